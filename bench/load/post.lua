-- wrk's side of a POST: the request comes from the environment, the result leaves as one line of JSON.

local body_file = assert(io.open(os.getenv("BENCH_BODY_FILE"), "rb"))
wrk.method = "POST"
wrk.body = body_file:read("*a")
body_file:close()

for line in os.getenv("BENCH_HEADERS"):gmatch("[^\n]+") do
  local name, value = line:match("^([^:]+): (.*)$")
  wrk.headers[name] = value
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"failed":%d,"durationMs":%.3f,"p50Ms":%.4f,"p99Ms":%.4f}\n',
    summary.requests,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    summary.duration / 1000,
    latency:percentile(50) / 1000,
    latency:percentile(99) / 1000
  ))
end
