import { wrap, type Remote } from 'comlink'
import type { ToolsHost } from './tools-host.worker.ts'

declare global {
  /** The tools in a worker that stands where the engine's would. */
  var toolsHost: Remote<ToolsHost>
}

globalThis.toolsHost = wrap<ToolsHost>(
  new Worker(new URL('./tools-host.worker.ts', import.meta.url), { type: 'module' }),
)
