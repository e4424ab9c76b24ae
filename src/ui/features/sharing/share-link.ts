import { engineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import { LARGEST_FILE, sharedToText, textToShared, TOO_LARGE, type SharedWorkflow } from './shared-workflow.ts'

/** Where links lead: everything is behind the `#`, which no browser sends to any server. */
const IMPORT_PATH = '#/import'
const PARAMETER = 'w'
const DAMAGED = err(engineError('invalid_input', 'The link is damaged or was cut off. Ask for it again.'))

/** `#/import?w=…`, for any place the application is served from. */
export async function sharedToAddress(workflow: SharedWorkflow): Promise<string> {
  const packed = new Blob([sharedToText(workflow)]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer())
  return `${IMPORT_PATH}?${PARAMETER}=${bytesToBase64Url(bytes)}`
}

/** From what is behind `w=`. */
export async function packedToShared(packed: string): Promise<Result<SharedWorkflow>> {
  const bytes = base64UrlToBytes(packed)
  const text = bytes === null ? DAMAGED : await unpack(bytes)
  return text.ok ? textToShared(text.value) : text
}

/** What a person pasted: a link of any Holdfast, the text of a file, or a script. */
export async function pastedToShared(text: string): Promise<Result<SharedWorkflow>> {
  const packed = /#\/import\?(?:[^\s#]*&)?w=([\w-]+)/.exec(text)?.[1]
  if (packed !== undefined) return packedToShared(packed)
  if (/^https?:\/\/\S+$/.test(text.trim())) {
    return err(engineError('invalid_input', 'This link holds no workflow. A link to share has “#/import?w=” in it.'))
  }
  return textToShared(text)
}

function bytesToBase64Url(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function base64UrlToBytes(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))
  } catch {
    return null
  }
}

/** Stops as soon as it is too much: a few bytes can be packed so that they become gigabytes. */
async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<Result<string>> {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += decoder.decode(part.value, { stream: true })
      if (text.length > LARGEST_FILE) {
        await reader.cancel()
        return err(engineError('invalid_input', TOO_LARGE))
      }
    }
    return ok(text + decoder.decode())
  } catch {
    return DAMAGED
  }
}
