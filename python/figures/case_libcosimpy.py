from libcosimpy.CosimEnums import CosimVariableType
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave


def run(folder, stop, step):
    execution = CosimExecution.from_step_size(step_size=round(step * 1e9))
    at, of = [], []
    for name in ("s1", "s2"):
        at.append(execution.add_local_slave(CosimLocalSlave(fmu_path=f"{folder}/{name}.fmu", instance_name=name)))
        of.append({variable.name.decode(): variable.reference for variable in execution.slave_variables(at[-1])})
    (s1, s2), (of1, of2) = at, of
    execution.connect_real_variables(s1, of1["x"], s2, of2["x"])
    execution.connect_real_variables(s1, of1["v"], s2, of2["v"])
    execution.connect_real_variables(s2, of2["F"], s1, of1["F"])
    observer = CosimObserver.create_time_series(buffer_size=round(stop / step) + 2)
    execution.add_observer(observer)
    observer.start_time_series(s1, of1["x"], CosimVariableType.REAL)
    execution.simulate_until(target_time=round(stop * 1e9))
    times, _, x = observer.time_series_real_samples(s1, of1["x"], from_step=1, sample_count=round(stop / step))
    return [time * 1e-9 for time in times], x
