import type { Json } from '#engine/model/json.ts'

export interface Redactor {
  /** From now on this value is nowhere to be seen. */
  hide(name: string, value: string): void
  text(text: string): string
  json(value: Json): Json
}

/** Takes secret values out of whatever a script, a log or a person may read: also when a server echoes them. */
export function createRedactor(): Redactor {
  /** Longest first, so that a form which contains another one is replaced as a whole. */
  let forms: { form: string; replacement: string }[] = []

  const text = (input: string): string => {
    let output = input
    for (const { form, replacement } of forms)
      if (output.includes(form)) output = output.replaceAll(form, () => replacement)
    return output
  }

  const json = (value: Json): Json => {
    if (typeof value === 'string') return text(value)
    if (value === null || typeof value !== 'object') return value
    if (Array.isArray(value)) return value.map(json)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), json(inner)]))
  }

  return {
    hide(name, value) {
      const replacement = `[secret ${name}]`
      const known = new Set(forms.map(({ form }) => form))
      const added = formsOf(value).filter((form) => !known.has(form))
      forms = [...forms, ...added.map((form) => ({ form, replacement }))].sort((a, b) => b.form.length - a.form.length)
    },
    text,
    json: (value) => (forms.length === 0 ? value : json(value)),
  }
}

/** The ways in which a value shows up again in addresses, JSON texts and encoded headers. */
function formsOf(value: string): string[] {
  const bytes = new TextEncoder().encode(value)
  const base64 = btoa(String.fromCharCode(...bytes))
  const inUrl = encodeURIComponent(value)
  return [
    ...new Set([
      value,
      JSON.stringify(value).slice(1, -1),
      inUrl,
      inUrl.replaceAll('%20', '+'),
      base64.replace(/=+$/, ''),
      base64.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_'),
    ]),
  ]
}
