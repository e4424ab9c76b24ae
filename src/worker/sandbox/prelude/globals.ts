import { defineAgentSource } from './define-agent.ts'

/** `console`, the clock, chance and the authoring functions: what a script finds on its global object besides the language. */
export const globalsSource = String.raw`(function (tools) {
const { apply, construct, defineHidden, now, random, log } = tools

const info = log('info'), debug = log('debug')
const nothing = () => {}
defineHidden(globalThis, 'console', {
  log: info, info, debug, warn: log('warn'), error: log('error'), trace: debug, dir: info, table: info,
  assert: (condition, ...args) => { if (!condition) apply(log('error'), undefined, ['Assertion failed', ...args]) },
  group: info, groupCollapsed: info, groupEnd: nothing, time: nothing, timeLog: nothing, timeEnd: nothing, count: nothing,
})

const NativeDate = Date
const showDate = tools.method(NativeDate.prototype.toString)
/** Shares the native prototype, so that nothing leads back to the native constructor and its own clock. */
function HostDate(...args) {
  if (new.target === undefined) return showDate(new NativeDate(now()))
  if (args.length === 0) args[0] = now()
  return construct(NativeDate, args, new.target)
}
defineHidden(HostDate, 'name', 'Date')
defineHidden(HostDate, 'length', 7)
defineHidden(HostDate, 'now', () => now())
defineHidden(HostDate, 'parse', NativeDate.parse)
defineHidden(HostDate, 'UTC', NativeDate.UTC)
HostDate.prototype = NativeDate.prototype
defineHidden(NativeDate.prototype, 'constructor', HostDate)
defineHidden(globalThis, 'Date', HostDate)
defineHidden(Math, 'random', () => random())

defineHidden(globalThis, 'defineWorkflow', (workflow) => workflow)
defineHidden(globalThis, 'defineAgent', (${defineAgentSource})(tools))
})`
