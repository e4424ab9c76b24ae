import { describe, expect, it } from 'vitest'
import { covers, describePermission, isHostAmong, permissionForUrl } from '#worker/tools/permissions.ts'

/** As a script would try it: an address, and whether what was granted lets it through. */
const addresses: [granted: string, url: string, isCovered: boolean, why: string][] = [
  ['http:api.example.com', 'https://api.example.com/x', true, 'the same host'],
  ['http:api.example.com', 'http://api.example.com/x', true, 'the protocol is not part of the permission'],
  ['http:API.Example.com', 'https://api.example.com/', true, 'case means nothing in a permission'],
  ['http:api.example.com', 'https://API.EXAMPLE.COM/', true, 'nor in an address'],
  ['http:api.example.com', 'https://api.example.com./', true, 'a trailing dot is the same machine'],
  ['http:api.example.com.', 'https://api.example.com/', true, 'in a permission too'],
  ['http:api.example.com', 'https://api.example.com:443/', true, 'the usual port may be written'],
  ['http:api.example.com', 'https://api.example.com:8443/', false, 'another port is another service'],
  ['http:api.example.com:8443', 'https://api.example.com:8443/', true, 'unless it is granted'],
  ['http:api.example.com:8443', 'https://api.example.com/', false, 'and then only that one'],
  ['http:localhost:*', 'http://localhost:11434/', true, 'any port can be granted'],
  ['http:api.example.com', 'https://evil.com/?api.example.com', false, 'a query is no host'],
  ['http:api.example.com', 'https://evil.com/#@api.example.com', false, 'a fragment is no host'],
  ['http:api.example.com', 'https://api.example.com@evil.com/', false, 'userinfo is no host'],
  ['http:api.example.com', 'https://api.example.com.evil.com/', false, 'a prefix is no host'],
  ['http:api.example.com', 'https://xapi.example.com/', false, 'a suffix without a dot is no subdomain'],
  ['http:api.example.com', 'https:\\\\evil.com\\api.example.com', false, 'backslashes are slashes'],
  ['http:api.example.com', 'https:evil.com', false, 'slashes can be left out'],
  ['http:api.example.com', 'https://evil.com\t/', false, 'tabs vanish'],
  ['http:api.example.com', 'https://ａｐｉ.example.com/', true, 'full-width letters are the same host'],
  ['http:api.example.com', 'https://аpi.example.com/', false, 'a Cyrillic letter is another host'],
  ['http:bücher.example', 'https://xn--bcher-kva.example/', true, 'punycode is the same host'],
  ['http:xn--bcher-kva.example', 'https://BÜCHER.example/', true, 'the other way round too'],
  ['http:127.0.0.1', 'http://2130706433/', true, 'an address written as a number is the same address'],
  ['http:example.com', 'http://0x7f.1/', false, 'and needs to be granted'],
  ['http:127.0.0.1', 'http://0177.0.0.1/', true, 'octal too'],
  ['http:127.0.0.1', 'http://[::ffff:127.0.0.1]/', false, 'IPv6 in disguise is not covered by the IPv4 address'],
  ['http:[::1]', 'http://[0:0:0:0:0:0:0:1]/', true, 'IPv6 has one form'],
  ['http:localhost', 'http://127.0.0.1/', false, 'a name is not its address'],
  ['http:*.example.com', 'https://api.example.com/', true, 'a wildcard covers what is below'],
  ['http:*.example.com', 'https://a.b.example.com/', true, 'at any depth'],
  ['http:*.example.com', 'https://example.com/', false, 'but not the name itself'],
  ['http:*.example.com', 'https://evilexample.com/', false, 'nor a name that only ends alike'],
  ['http:*.0.0.1', 'http://127.0.0.1/', false, 'no wildcard in addresses'],
  ['http:*', 'https://anything.example/', true, 'everything can be granted'],
  ['http:*.', 'https://anything.example/', false, 'but not by accident'],
  ['http:', 'https://anything.example/', false, 'an empty host is nothing'],
  ['http', 'https://anything.example/', false, 'no host at all is nothing'],
  ['http:api.example.com/path', 'https://api.example.com/path', false, 'a path cannot be granted'],
  ['http:user@api.example.com', 'https://api.example.com/', false, 'nor can userinfo'],
  ['http:https://api.example.com', 'https://api.example.com/', false, 'nor an address'],
  ['http:api.*.com', 'https://api.example.com/', false, 'a star stands only in front'],
  ['http: api.example.com', 'https://api.example.com/', false, 'spaces are not trimmed'],
  ['http:api.example.com|evil.com', 'https://evil.com/', false, 'there are no lists'],
]

describe('a granted host', () => {
  it.each(addresses)('%s, asked for %s: %s, because %s', (granted, url, isCovered) => {
    expect(covers(granted, permissionForUrl(new URL(url)))).toBe(isCovered)
  })

  it('decides about secrets in the same way', () => {
    expect(isHostAmong(['a.example', '*.b.example'], new URL('https://x.b.example/'))).toBe(true)
    expect(isHostAmong(['a.example', '*.b.example'], new URL('https://a.example@b.example/'))).toBe(false)
  })
})

describe('any other permission', () => {
  it.each([
    ['demo', 'demo', true],
    ['notify', 'demo', false],
    ['files:reports', 'files:reports', true],
    ['files:reports', 'files:Reports', false],
    ['files', 'files:reports', false],
    ['files:', 'files:', false],
    ['github', 'github:octo/repo', true],
    ['github:octo/repo', 'github:octo/repo', true],
    ['github:octo/repo', 'github:octo/other', false],
    ['github:octo/repo', 'github', false],
    ['llm', 'llm:local', true],
    ['llm:local', 'llm:paid', false],
    ['', '', false],
    ['constructor', 'demo', false],
  ])('%s, asked for %s: %s', (granted, needed, isCovered) => {
    expect(covers(granted, needed)).toBe(isCovered)
  })
})

describe('the words for a permission', () => {
  it.each([
    ['http:*', 'Send and fetch data anywhere on the internet'],
    ['http:*.example.com', 'Send and fetch data at *.example.com'],
    ['files:reports', 'Read, write and delete files in your folder "reports"'],
    ['github:octo/repo', 'Read and write on GitHub, only octo/repo'],
    ['github', 'Read and write everything your GitHub token may'],
    ['llm:local', 'Ask the language model "local", which may cost money'],
    ['llm', 'Ask language models, which may cost money'],
    ['notify', 'Show notifications'],
    ['clipboard', 'Write to the clipboard'],
    ['demo', 'Use the demo inbox, sheet and chat'],
  ])('%s say what it allows', (permission, words) => {
    expect(describePermission(permission)).toBe(words)
  })

  it.each(['http', 'http:a/b', 'files', 'demo:x', 'unknown', 'constructor', ''])(
    'are missing for %s, which nothing could need',
    (permission) => {
      expect(describePermission(permission)).toBeUndefined()
    },
  )
})
