import { fileURLToPath } from 'node:url'
import { ensureInstalled } from './install.mjs'
import { giveUp, npm } from './run.mjs'
import { serveApp } from './serve.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

await ensureInstalled()
if ((await npm(['run', '--silent', 'build'])) !== 0) giveUp('The application could not be built: the reason is above.')
await serveApp(Number(process.env.PORT ?? 4173))
