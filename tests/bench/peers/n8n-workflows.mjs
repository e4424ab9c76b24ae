/**
 * What n8n runs, in its own format: the same three steps around a mutation that does nothing, the same with a trace of each step,
 * and a sleep. Progress is saved after each node.
 */

const TRACES_PORT = 19083

const WEBHOOK = 'n8n-nodes-base.webhook'
const SET = 'n8n-nodes-base.set'

/** @param {string} path @param {'lastNode' | 'onReceived'} responseMode */
const webhook = (path, responseMode) => ({
  name: 'Webhook',
  type: WEBHOOK,
  typeVersion: 2,
  webhookId: path,
  parameters: { path, httpMethod: 'GET', responseMode },
})

/** @param {string} name @param {string} field @param {string} expression */
const set = (name, field, expression) => ({
  name,
  type: SET,
  typeVersion: 3.4,
  parameters: {
    includeOtherFields: false,
    assignments: { assignments: [{ id: field, name: field, type: 'number', value: `={{ ${expression} }}` }] },
  },
})

/** @param {string} step */
const trace = (step) => ({
  name: step,
  type: 'n8n-nodes-base.httpRequest',
  typeVersion: 4.2,
  parameters: {
    method: 'POST',
    url: `=http://127.0.0.1:${TRACES_PORT}/${step}/{{ $('Webhook').item.json.query.n }}`,
  },
})

/** One node after the other. @param {string} id @param {{ name: string }[]} nodes */
const chain = (id, nodes) => ({
  id,
  name: id,
  active: false,
  nodes: nodes.map((node, n) => ({ id: `${id}-${n}`, position: [n * 200, 0], ...node })),
  connections: Object.fromEntries(
    nodes.slice(0, -1).map(({ name }, n) => [name, { main: [[{ node: nodes[n + 1]?.name, type: 'main', index: 0 }]] }]),
  ),
  settings: {
    executionOrder: 'v1',
    saveExecutionProgress: true,
    saveDataSuccessExecution: 'all',
    saveDataErrorExecution: 'all',
  },
})

export { TRACES_PORT }

export const workflows = [
  chain('carry', [
    webhook('carry', 'lastNode'),
    set('prepare', 'n', '$json.query.n'),
    { name: 'mutate', type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} },
    set('next', 'last', '$json.n'),
  ]),
  chain('traced', [webhook('traced', 'onReceived'), trace('prepare'), trace('mutate'), trace('next')]),
  chain('nap', [
    webhook('nap', 'lastNode'),
    set('due', 'due', 'Date.now() + Number($json.query.ms)'),
    {
      name: 'sleep',
      type: 'n8n-nodes-base.wait',
      typeVersion: 1.1,
      webhookId: 'sleep',
      parameters: { amount: '={{ Math.max(1, $json.due - Date.now()) / 1000 }}', unit: 'seconds' },
    },
    set('started', 'late', 'Date.now() - $json.due'),
  ]),
]
