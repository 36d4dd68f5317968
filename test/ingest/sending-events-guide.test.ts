import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { testApp } from '../test-app.ts'

const guide = readFileSync(join(import.meta.dir, '../../docs/connect/servers-and-apps.md'), 'utf8')

interface Example {
  section: string
  method: string
  url: string
  headers: Headers
  body: string
}

/** Returns the requests in the guide with both placeholders filled in. */
function examples(token: string): Example[] {
  return guide.split(/^## /m).flatMap((text) => {
    const section = text.slice(0, text.indexOf('\n'))
    return [...text.matchAll(/^```http\n([\s\S]*?)^```$/gm)].map(([, block = '']) => {
      const [head = '', body = ''] = block
        .replaceAll('{collect_url}', 'http://localhost')
        .replaceAll('{token}', token)
        .split(/\n\n([\s\S]*)/)
      const [start = '', ...fields] = head.split('\n')
      const [method = '', url = ''] = start.split(' ')
      const headers = new Headers(
        fields.map((field): [string, string] => [field.split(': ')[0] ?? '', field.split(': ')[1] ?? '']),
      )
      return { section, method, url, headers, body }
    })
  })
}

test('every request in the guide is accepted completely, and a repeated request is not counted twice', async () => {
  await using t = await testApp()
  const { body: domain } = await t.call('POST', '/v1/domains', { as: t.owner.apiKey, body: { name: 'Shop' } })
  t.clock.set(1_767_618_100_000)
  const all = examples(domain.token)
  expect(all.map(({ section }) => section)).toEqual(['Server', 'Server', 'Android', 'iOS'])
  for (const { method, url, headers, body } of [...all, ...all]) {
    const packed = headers.get('content-encoding') === 'gzip' ? gzipSync(body) : body
    const response = await t.app.collector.fetch(new Request(url, { method, headers, body: packed }))
    expect([response.status, await response.json()]).toEqual([
      202,
      { accepted: expect.any(Number), rejected: 0, errors: [] },
    ])
  }
  await t.run('flush')
  const { body } = await t.call('GET', `/v1/events?from=1767600000000&limit=200`, { as: t.owner.apiKey })
  const stored = body.events as {
    vendor: string
    event: string
    status: string | null
    path: string | null
    weight: number
  }[]
  expect(stored.map(({ vendor, event, status, path, weight }) => [vendor, event, status, path, weight]).sort()).toEqual(
    [
      ['Adjust', 'purchase', null, '/checkout/payment', 1],
      ['Adjust', 'screen_view', null, '/checkout/payment', 1],
      ['Firebase', 'add_to_cart', null, '/cart', 4],
      ['Firebase', 'begin_checkout', 'exception', '/cart', 4],
      ['Google Analytics 4', 'purchase', 'ok', null, 1],
      ['Google Analytics 4', 'purchase', 'ok', null, 1],
      ['Meta Pixel', 'Purchase', 'timeout', null, 1],
    ],
  )
})
