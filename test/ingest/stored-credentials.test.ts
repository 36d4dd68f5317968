import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { decoders } from '../../src/decoders/index.ts'
import { testApp } from '../test-app.ts'

const CANARY = 'Canary7QzCredential'
const NAMES = ['access_token', 'api_secret', 'apiKey', 'token_auth', 'Authorization', 'client_secret', 'password']

const members = Object.fromEntries(NAMES.map((name) => [name, CANARY]))
const query = new URLSearchParams(members).toString()
const params = {
  ...members,
  user: { ...members, headers: NAMES.map((name) => ({ name, value: CANARY })) },
  url: `https://shop.example/account?step=2&${query}`,
  payload: JSON.stringify({ inner: JSON.stringify(members) }),
}

/** One request for each host of each decoder, and requests to hosts without a vendor. */
const hits = [...decoders.flatMap(({ hosts }) => hosts), 'api.shop.example', 'unknown.example'].flatMap((host) => [
  { url: `https://user:${CANARY}@${host}/collect?event=buy&${query}&dl=${encodeURIComponent(params.url)}` },
  { url: `https://${host}/v1/track?${query}`, method: 'POST', body: JSON.stringify({ event: 'buy', ...params }) },
])

/** Returns the files in the folder and its subfolders that contain the bytes. */
function filesWith(folder: string, bytes: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .filter((name) => readFileSync(join(folder, name)).includes(bytes))
}

test('credentials in any part of a request are not stored, regardless of the vendor', async () => {
  await using t = await testApp()
  const { body: domain } = await t.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const batches = [
    ...Array.from({ length: Math.ceil(hits.length / 200) }, (_, n) => ({ hits: hits.slice(n * 200, n * 200 + 200) })),
    { events: [{ vendor: 'Own', event: 'seen', account: 'a', params: { ...params, kept: 'Kept7Qz' } }] },
    { tags: [{ container: 'GTM-1', tagId: '7', name: 'Tag', event: 'buy', params }] },
    { page: { url: params.url, title: 'Shop' }, events: [{ vendor: 'Own', event: 'page' }] },
  ]
  for (const batch of batches) expect((await t.collect(domain.token, batch)).status).toBe(202)
  expect(filesWith(t.folder, 'Kept7Qz')).not.toEqual([])
  expect(filesWith(t.folder, CANARY)).toEqual([])

  await t.run('flush', 'evaluate', 'scan for personal data')
  expect(filesWith(t.folder, CANARY)).toEqual([])
  let cursor: string | null = ''
  let count = 0
  while (cursor !== null) {
    const { body } = await t.call('GET', `/v1/events?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    expect(JSON.stringify(body.events).includes(CANARY)).toBe(false)
    count += body.events.length
    cursor = body.nextCursor ?? null
  }
  expect(count).toBeGreaterThan(hits.length / 2)
})
