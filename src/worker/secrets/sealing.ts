/** AES-GCM: whoever lacks the key can neither read the text nor change it, nor pass it off as another one. */
export interface SealedText {
  iv: Uint8Array<ArrayBuffer>
  ciphertext: ArrayBuffer
}

export type Lock =
  /** The key cannot be exported, not even by us; the browser keeps it for this site on this device. */
  | { kind: 'device'; key: CryptoKey }
  /** The key is derived anew each time; `check` tells a right passphrase from a wrong one. */
  | { kind: 'passphrase'; salt: Uint8Array<ArrayBuffer>; iterations: number; check: SealedText }

const CHECK_TEXT = 'holdfast'
const CHECK_LABEL = 'check'

export async function seal(key: CryptoKey, text: string, label: string): Promise<SealedText> {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const additionalData = new TextEncoder().encode(label)
  const ciphertext = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv, additionalData },
    key,
    new TextEncoder().encode(text),
  )
  return { iv, ciphertext }
}

/** Undefined when the key or the label is another one, or when the text was tampered with. */
export async function unseal(key: CryptoKey, sealed: SealedText, label: string): Promise<string | undefined> {
  const additionalData = new TextEncoder().encode(label)
  try {
    const bytes = await crypto.subtle.decrypt(
      { name: 'AES-GCM', iv: sealed.iv, additionalData },
      key,
      sealed.ciphertext,
    )
    return new TextDecoder().decode(bytes)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'OperationError') return undefined
    throw error
  }
}

export async function createDeviceLock(): Promise<[Lock, CryptoKey]> {
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
  return [{ kind: 'device', key }, key]
}

export async function createPassphraseLock(passphrase: string, iterations: number): Promise<[Lock, CryptoKey]> {
  const salt = crypto.getRandomValues(new Uint8Array(16))
  const key = await deriveKey(passphrase, salt, iterations)
  const check = await seal(key, CHECK_TEXT, CHECK_LABEL)
  return [{ kind: 'passphrase', salt, iterations, check }, key]
}

export async function openLock(lock: Lock, passphrase: string): Promise<CryptoKey | undefined> {
  if (lock.kind === 'device') return lock.key
  const key = await deriveKey(passphrase, lock.salt, lock.iterations)
  return (await unseal(key, lock.check, CHECK_LABEL)) === CHECK_TEXT ? key : undefined
}

async function deriveKey(passphrase: string, salt: Uint8Array<ArrayBuffer>, iterations: number): Promise<CryptoKey> {
  // The same passphrase may be typed with composed or with combining letters, depending on the keyboard.
  const material = new TextEncoder().encode(passphrase.normalize('NFKC'))
  const base = await crypto.subtle.importKey('raw', material, 'PBKDF2', false, ['deriveKey'])
  const algorithm = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations }
  return crypto.subtle.deriveKey(algorithm, base, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}
