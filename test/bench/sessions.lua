-- For wrk: each request has the next of the sessions whose cookies are the arguments.

local requests = {}
local last = 0

function init(cookies)
  for _, cookie in ipairs(cookies) do
    requests[#requests + 1] = wrk.format("GET", wrk.path, { ["Cookie"] = cookie })
  end
end

function request()
  last = last % #requests + 1
  return requests[last]
end
