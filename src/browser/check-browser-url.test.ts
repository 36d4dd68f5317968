import { describe, expect, test } from 'bun:test'
import { testApp } from '../../test/test-app.ts'
import { addressCheck } from './check-browser-url.ts'

const PRIVATE = [
  'http://127.0.0.1:8080/',
  'http://10.1.2.3/',
  'https://192.168.0.1/',
  'http://169.254.169.254/latest/meta-data',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[fd00::1]/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0.0.0.0:9000/',
  'http://localhost:3000/',
  'http://user:pass@127.0.0.1/',
]

describe('the check of the URLs that a browser may open', () => {
  test.each(PRIVATE)('rejects %s', (address) => {
    expect(() => addressCheck([])(address, 'startUrl')).toThrow(
      /^startUrl: host .*: allow it in TAGWARDEN_OUTBOUND_ALLOW/,
    )
  })
  test.each(['https://shop.example/', 'http://shop.example:8080/a', 'https://user:pass@shop.example/', '{{base}}/a'])(
    'accepts %s',
    (address) => addressCheck([])(address, 'startUrl'),
  )
  test('accepts hosts that the operator allows', () => {
    const check = addressCheck(['127.0.0.0/8', '::1', 'localhost', '10.1.2.3'])
    for (const address of ['http://127.0.0.1:8080/', 'http://10.1.2.3/', 'http://[::1]/', 'http://localhost:3000/']) {
      check(address, 'startUrl')
    }
  })
})

test('a flow test or audit with a private URL is rejected when saved, with an error naming the field', async () => {
  await using world = await testApp({ outboundAllow: '127.0.0.2' })
  const url = 'http://127.0.0.1/'
  const open = (address: string) => ({ type: 'navigate', url: address })
  const flow = (steps: object[], more: object = {}) => ({ name: 'Shop', recording: { title: '', steps }, ...more })
  const shop = open('https://shop.example/')
  const made = await world.call('POST', '/v1/flows/tests', { body: flow([shop]) })
  expect(made.status).toBe(201)
  const based = await world.call('POST', '/v1/flows/tests', { body: flow([open('{{base}}/')]) })
  const cases: [method: string, path: string, body: object, field: string][] = [
    ['POST', '/v1/flows/tests', flow([shop, open(url)]), 'recording.steps[1].url'],
    ['POST', '/v1/flows/tests', flow([shop], { startUrl: url }), 'startUrl'],
    [
      'POST',
      '/v1/flows/tests',
      flow([open('{{base}}/')], { variables: { base: 'http://127.0.0.1' } }),
      'recording.steps[0].url',
    ],
    ['PUT', `/v1/flows/tests/${made.body.id}`, flow([shop], { startUrl: url }), 'startUrl'],
    ['POST', `/v1/flows/tests/${made.body.id}/run`, { startUrl: url }, 'startUrl'],
    [
      'POST',
      `/v1/flows/tests/${based.body.id}/run`,
      { variables: { base: 'http://127.0.0.1' } },
      'recording.steps[0].url',
    ],
    ['POST', '/v1/audits', { name: 'Shop', startUrls: ['https://shop.example/', url] }, 'startUrls[1]'],
    ['POST', '/v1/audits', { name: 'Shop', sitemap: `${url}sitemap.xml` }, 'sitemap'],
  ]
  for (const [method, path, body, field] of cases) {
    const answer = await world.call(method, path, { body })
    expect([field, answer.status, answer.body.error.startsWith(`${field}: host 127.0.0.1 is`)]).toEqual([
      field,
      400,
      true,
    ])
  }
  const allowed = await world.call('POST', '/v1/flows/tests', { body: flow([open('http://127.0.0.2/')]) })
  expect(allowed.status).toBe(201)
})
