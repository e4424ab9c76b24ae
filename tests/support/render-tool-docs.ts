import type { DocumentedMethod } from '#worker/tools/define-method.ts'

const INTRODUCTION = `# Tools

What scripts can reach. Each method is either a **read** (in producers and \`prepare\`) or a **mutation** (one call, in
\`mutate\`; nothing after it runs, and \`next\` gets its result as \`mutation.result\`). This page is made from the tools
themselves and every example on it is run by a test.

**Permissions.** A script declares what it needs, such as \`permissions: ['http:api.example.com', 'notify']\`, and the user
grants it. \`http:*.example.com\` covers every name below \`example.com\`, \`http:localhost:11434\` one port,
\`http:localhost:*\` all of them, \`http:*\` everything.

**Failures.** A read that fails throws; the script may catch it. The kind of failure decides what happens next:
\`network\` is tried again with growing pauses, \`auth\` and \`permission\` wait for the user, \`logic\` waits for a better
script. A mutation that was certainly refused fails in the same way. When nobody can know whether it happened, it is
checked where the tool can check, and otherwise the user is asked.

**Limits.** The user may limit how many mutations a workflow makes and what it costs in 24 hours. What would go over waits; a
read that costs money (\`llm\`) throws like any passing failure once the limit is reached.

**Secrets.** Write \`secret:NAME\` in a header. The value is put in at the last moment, only for the hosts the secret is
bound to, and is taken out of everything that comes back.
`

const NAMESPACES: Record<string, { title: string; permission: string; text: string }> = {
  http: {
    title: 'HTTP',
    permission: '`http:` and the host, such as `http:api.example.com`',
    text: 'Requests to any service that allows web pages to use it (CORS). Only `https://`, or `http://` on this computer. Both kinds of options have `searchParams`, `headers`, `timeout` (milliseconds, 30,000 unless told), `maxBytes` (2 MiB unless told), `responseType` (`auto`, `json`, `text` or `base64`) and `throwHttpErrors`.',
  },
  parse: {
    title: 'Parsing',
    permission: 'none',
    text: 'Turns text that was fetched into data.',
  },
  notify: { title: 'Notifications', permission: '`notify`', text: 'Notifications of the operating system.' },
  clipboard: { title: 'Clipboard', permission: '`clipboard`', text: 'The clipboard of the operating system.' },
  files: {
    title: 'Files',
    permission: '`files:` and the name of the folder, such as `files:reports`',
    text: 'Files in a folder that the user picked and named in the settings. A change whose outcome is in doubt is looked up.',
  },
  llm: {
    title: 'Language models',
    permission: '`llm`, or `llm:` and the name of a connection',
    text: 'Any OpenAI-compatible endpoint, also one on this computer, or Anthropic’s, with the user’s own key. A question has a `prompt` and may have `system`, `connection`, `model`, `maxTokens` (1,024 unless told), `temperature` and `timeout`. Counts as a read: it may be asked again.',
  },
  github: {
    title: 'GitHub',
    permission: '`github:` and the repository, such as `github:octo/hello`, or `github` for everything',
    text: 'Issues, releases and notifications, with the token from the settings.',
  },
  demo: {
    title: 'Demo',
    permission: '`demo`',
    text: 'A simulated inbox, sheet and chat that need no network. Mails keep coming; what is done to them stays done.',
  },
}

/** docs/tools.md, from what the editor shows. */
export function renderToolDocs(methods: readonly DocumentedMethod[]): string {
  const namespaces = [...new Set(methods.map(({ namespace }) => namespace))]
  const chapters = namespaces.map((namespace) => {
    const about = NAMESPACES[namespace]
    if (!about) throw new Error(`docs/tools.md has no words for ${namespace}`)
    const sections = methods.filter((method) => method.namespace === namespace).map(renderMethod)
    return [`## ${about.title}`, about.text, `Permission: ${about.permission}.`, ...sections].join('\n\n')
  })
  return [INTRODUCTION, ...chapters].join('\n\n')
}

function renderMethod({ namespace, method, kind, title, doc, reconcile }: DocumentedMethod): string {
  const name = `${namespace}.${method}`
  const checked = reconcile ? ', can be checked afterwards' : ''
  return [
    `### \`${name}\``,
    `${title} (${kind}${checked}).`,
    `\`\`\`ts\n${name}: ${doc.signature}\n\`\`\``,
    doc.text,
    `\`\`\`js\n${doc.example}\n\`\`\``,
  ].join('\n\n')
}
