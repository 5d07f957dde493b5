-- Drives `paynter lsp` from a real editor, as a user would: messages while typing, completion, hover, rename over three files,
-- format, quick fix, cancel.
--
--   PAYNTER=target/release/paynter nvim --headless -u NONE -c "luafile editors/neovim/test.lua"
--
-- Exit status 0 if all went well. Needs Neovim 0.7 or newer.

local command = os.getenv("PAYNTER") or "paynter"
local folder = vim.fn.tempname()
local log = {}

local function check(fact, what)
  if not fact then
    error(what, 2)
  end
  table.insert(log, "ok   " .. what)
end

local function write(name, text)
  vim.fn.writefile(vim.split(text, "\n"), folder .. "/" .. name)
end

--- Waits until a function gives something.
local function wait(what, ask)
  local found
  local came = vim.wait(60000, function()
    found = ask()
    return found and true or false
  end, 10)
  if not came then
    error("nothing came: " .. what, 2)
  end
  return found
end

--- Asks the server and waits for the answer.
local function request(buffer, method, params)
  local answers, message = vim.lsp.buf_request_sync(buffer, method, params, 60000)
  if not answers then
    error(method .. ": " .. tostring(message), 2)
  end
  for _, answer in pairs(answers) do
    if answer.error then
      error(method .. ": " .. answer.error.message, 2)
    end
    return answer.result
  end
end

local function open(name, client)
  vim.cmd("edit " .. folder .. "/" .. name)
  local buffer = vim.api.nvim_get_current_buf()
  if client then
    vim.lsp.buf_attach_client(buffer, client)
  end
  return buffer
end

local function lines(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
end

--- The place of a pattern: line and column, from 0.
local function place(buffer, pattern, shift)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local at = line:find(pattern)
    if at then
      return { line = row - 1, character = at - 1 + (shift or 0) }
    end
  end
  error("there is no " .. pattern, 2)
end

local function at(buffer, position)
  return { textDocument = vim.lsp.util.make_text_document_params(buffer), position = position }
end

--- Types text at a place, letter by letter, as an editor sends it.
local function type_in(buffer, position, text)
  for k = 1, #text do
    local column = position.character + k - 1
    vim.api.nvim_buf_set_text(buffer, position.line, column, position.line, column, { text:sub(k, k) })
  end
end

local PARTS = [[
/// A winding.
model Winding {
    param R1 = 2 [ohm], L1 = 1 [mH]
    port a: electrical = mesh
    mesh: 1 -> r: R(R1), l: I(L1)
}
]]

local DRIVE = [[
use "parts.bond": Winding

model Drive {
    supply: Se(10 [V]) -> coil: Winding(R1 = 3 [ohm])
    output i [A] = coil.l.f
}

experiment go of Drive { stop = 1 [s]; record i }
]]

local OTHER = [[
use "parts.bond": Winding

model Other {
    supply: Se(1 [V]) -> w: Winding(R1 = 1 [ohm])
    output heat [W] = w.r.power
}
]]

local function run()
  vim.fn.mkdir(folder, "p")
  write("parts.bond", PARTS)
  write("drive.bond", DRIVE)
  write("other.bond", OTHER)
  local client = vim.lsp.start_client({ name = "paynter", cmd = { command, "lsp" }, root_dir = folder })
  check(client, "the server starts")
  local drive = open("drive.bond", client)
  wait("the greeting", function()
    local found = vim.lsp.get_client_by_id(client)
    return found and found.initialized
  end)

  -- Messages while typing.
  local function messages(buffer)
    return vim.diagnostic.get(buffer)
  end
  type_in(drive, place(drive, "coil: Winding", 4), "x")
  local found = wait("messages", function()
    local all = messages(drive)
    return #all > 0 and all
  end)
  check(found[1].message:find("coil"), "a name that nothing makes is told while typing: " .. found[1].message)
  vim.cmd("silent undo")
  vim.api.nvim_buf_set_lines(drive, 0, -1, false, vim.split(DRIVE, "\n"))
  wait("no messages", function()
    return #messages(drive) == 0
  end)
  check(true, "the message goes with its cause")

  -- Quick fix: a name that was meant.
  local wrong = place(drive, "coil%.l%.f")
  vim.api.nvim_buf_set_text(drive, wrong.line, wrong.character, wrong.line, wrong.character + 4, { "coli" })
  local told = wait("the message", function()
    local all = messages(drive)
    return #all > 0 and all
  end)
  local range = { start = wrong, ["end"] = { line = wrong.line, character = wrong.character + 4 } }
  local raw = vim.tbl_map(function(d)
    return (d.user_data and d.user_data.lsp) and vim.tbl_extend("force", d.user_data.lsp, {
      message = d.message,
      range = { start = { line = d.lnum, character = d.col }, ["end"] = { line = d.end_lnum, character = d.end_col } },
    }) or { message = d.message, range = range }
  end, told)
  local actions = request(drive, "textDocument/codeAction", {
    textDocument = vim.lsp.util.make_text_document_params(drive),
    range = range,
    context = { diagnostics = raw },
  })
  check(actions and #actions > 0, "there is a quick fix: " .. (actions and actions[1] and actions[1].title or "none"))
  vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
  check(lines(drive):find("coil%.l%.f"), "the quick fix puts the name that was meant")

  -- Completion: members behind a dot.
  local dot = place(drive, "coil%.l%.f", 5)
  local offers = request(drive, "textDocument/completion", at(drive, dot))
  local items = offers.items or offers
  local labels = {}
  for _, item in ipairs(items) do
    labels[item.label] = true
  end
  check(labels.r and labels.mesh and labels.R1, "members of the part are offered behind its dot")

  -- Hover: declaration and documentation.
  local hover = request(drive, "textDocument/hover", at(drive, place(drive, "Winding%(", 1)))
  local text = type(hover.contents) == "table" and hover.contents.value or hover.contents
  check(text:find("A winding"), "hover shows the documentation of a part of another file")

  -- Rename over three files.
  local edit = request(drive, "textDocument/rename", vim.tbl_extend("force", at(drive, place(drive, "R1 = 3", 1)), { newName = "resistance" }))
  vim.lsp.util.apply_workspace_edit(edit, "utf-16")
  check(lines(drive):find("Winding%(resistance = 3"), "rename: the argument in this file")
  local parts, other = open("parts.bond", client), open("other.bond", client)
  check(lines(parts):find("param resistance = 2") and lines(parts):find("R%(resistance%)"), "rename: the parameter in its own file")
  check(lines(other):find("Winding%(resistance = 1"), "rename: the argument in a third file")
  wait("no messages after the rename", function()
    return #messages(drive) == 0 and #messages(parts) == 0 and #messages(other) == 0
  end)

  -- Format.
  vim.api.nvim_buf_set_lines(other, 0, -1, false, { "model Other{", "a:Se( 1 )->j:1->r:R( 2 )", "}", "" })
  local edits = request(other, "textDocument/formatting", {
    textDocument = vim.lsp.util.make_text_document_params(other),
    options = { tabSize = 4, insertSpaces = true },
  })
  vim.lsp.util.apply_text_edits(edits, other, "utf-16")
  check(lines(other):find("model Other {\n    a: Se%(1%) %-> j: 1 %-> r: R%(2%)\n}"), "the text is laid out")

  -- Cancel: a run that would take hours ends when it is cancelled.
  vim.api.nvim_buf_set_lines(other, 0, -1, false, {
    "model M { s: Se(sin(1000*time)) -> j: 1 -> i: I(1), c: C(1), r: R(1) }",
    "experiment go of M { stop = 1e6 [s]; record i.f; max_steps = 1000000000000 }",
  })
  local ended
  -- Neovim keeps the answer to a cancelled request for itself; the end of the progress is what a user sees.
  vim.lsp.handlers["$/progress"] = function(_, result)
    if result.value.kind == "end" then
      ended = result.value
    end
  end
  local rpc = vim.lsp.get_client_by_id(client)
  local _, id = rpc.request("workspace/executeCommand", {
    command = "paynter.run",
    arguments = { vim.uri_from_bufnr(other), "go" },
  }, function() end, other)
  vim.wait(1500, function()
    return ended ~= nil
  end, 10)
  check(ended == nil, "the run goes on")
  rpc.cancel_request(id)
  wait("the end of the run", function()
    return ended
  end)
  check(true, "the run ends when it is cancelled")

  -- The line stays open.
  check(request(drive, "textDocument/hover", at(drive, place(drive, "Winding%(", 1))), "the server still answers")
  vim.lsp.stop_client(client)
  wait("the end of the server", function()
    return vim.lsp.get_client_by_id(client) == nil or vim.lsp.get_client_by_id(client).is_stopped()
  end)
  check(true, "the server ends with the editor")
end

local good, failure = xpcall(run, debug.traceback)
io.stdout:write(table.concat(log, "\n") .. "\n")
vim.fn.delete(folder, "rf")
if not good then
  io.stdout:write("FAILED " .. tostring(failure) .. "\n")
  vim.cmd("cquit 1")
end
vim.cmd("qall!")
