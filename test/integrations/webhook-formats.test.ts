import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FORMATS } from '../../src/integrations/providers/webhook/formats/index.ts'
import { PRODUCTS } from '../../src/integrations/providers/webhook/formats/products.fixture.ts'
import { type TestApp, testApp } from '../test-app.ts'
import { exampleRequest } from './webhook-format-examples.fixture.ts'

/* `config.format` of webhooks in the API. */

let world: TestApp
beforeAll(async () => {
  world = await testApp()
})
afterAll(() => world[Symbol.asyncDispose]())

const create = (config: object) =>
  world.call('POST', '/v1/integrations', { body: { provider: 'webhook', label: 'On call', config } })

const URLS = { standard: 'https://hooks.example.com/in', discord: 'https://discord.com/api/webhooks/1/tokenA' }
const SIGNING_SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`
const KEY = 'planted0pagerduty0key00123456789'
const PAGERDUTY = { format: 'pagerduty', url: 'https://events.pagerduty.com/v2/enqueue', secret: KEY }

describe.each(PRODUCTS.map((product) => [product.format.name, product] as const))(
  'a webhook in the format %s',
  (name, product) => {
    const url = `https://product.example${product.path}`
    const secret = product.secret === undefined ? {} : { secret: product.secret }

    test('is created, returned and replaced, without its secret', async () => {
      const made = await create({ format: name, url, ...secret })
      expect([made.status, made.body.error]).toEqual([201, undefined])
      expect(made.body.config).toEqual({ format: name, url })
      const path = `/v1/integrations/${made.body.id}`
      expect((await world.call('GET', path)).body.config).toEqual({ format: name, url })
      const replaced = await world.call('PUT', path, {
        body: { provider: 'webhook', label: 'Renamed', config: { format: name, url } },
      })
      expect([replaced.status, replaced.body.config]).toEqual([200, { format: name, url }])
      const standard = await world.call('PUT', path, {
        body: { provider: 'webhook', label: 'Renamed', config: { url: URLS.standard, secret: SIGNING_SECRET } },
      })
      expect([standard.status, standard.body.config]).toEqual([200, { url: URLS.standard }])
    })

    test('rejects a URL that is not one of the product', async () => {
      const { status, body } = await create({ format: name, url: 'https://product.example/a/b/c?d=e', ...secret })
      expect(status).toBe(400)
      expect(body.error).toStartWith('config.url: must be a URL such as https://')
    })

    test('has no secret to rotate', async () => {
      const made = await create({ format: name, url, ...secret })
      const { status, body } = await world.call('POST', `/v1/integrations/${made.body.id}/rotate`)
      expect([status, body.error]).toEqual([409, 'only webhooks with the format standard have a secret to rotate'])
    })
  },
)

test.each([
  [{ ...PAGERDUTY, format: 'pager' }, 'config.format: must be one of standard, discord, '],
  [{ ...PAGERDUTY, secret: undefined }, 'config.secret: is required; enter the integration key of PagerDuty'],
  [{ ...PAGERDUTY, secret: KEY.slice(1) }, 'config.secret: must be the integration key of PagerDuty'],
  [{ ...PAGERDUTY, secret: `whsec_${KEY}` }, 'config.secret: must be the integration key of PagerDuty'],
  [
    { format: 'ntfy', url: 'https://ntfy.sh/tags', secret: 'with spaces' },
    'config.secret: must be the access token of ntfy',
  ],
  [{ format: 'discord', url: 'http://discord.com/api/webhooks/1/t' }, 'config.url: must be an https URL'],
])('%j is rejected', async (config, message) => {
  const { status, body } = await create(config)
  expect(status).toBe(400)
  expect(body.error).toStartWith(message)
})

test('a secret that the format does not use is not stored', async () => {
  const { status, body } = await create({ format: 'discord', url: URLS.discord, secret: 'unused-secret-1234' })
  expect([status, body.secret]).toEqual([201, undefined])
  const { secrets } = world.app.db.prepare('SELECT secrets FROM integration WHERE id = ?').get(body.id) as {
    secrets: unknown
  }
  const stored = JSON.parse(world.app.box.open(secrets as never) as never)
  expect(stored).toEqual({})
})

test('a webhook without a format keeps the format standard', async () => {
  const made = await create({ url: URLS.standard })
  expect(made.body.secret).toStartWith('whsec_')
  expect(made.body.config).toEqual({ url: URLS.standard })
  const named = await create({ url: URLS.standard, format: 'standard' })
  expect([named.status, named.body.config]).toEqual([201, { url: URLS.standard }])
})

const guide = readFileSync(join(import.meta.dir, '../../docs/connect/webhook-formats.md'), 'utf8')

test.each(FORMATS.map((format) => [format.name, format] as const))(
  'the guide shows an actual body in the format %s',
  (name, format) => {
    const section = guide.split(/^## /m).find((one) => one.includes(`"format": "${name}"`)) ?? ''
    const [, shown = ''] = /```json\n([\s\S]*?)\n```\n/.exec(section) ?? []
    expect(JSON.parse(shown)).toEqual(JSON.parse(exampleRequest(format).body ?? ''))
    expect(guide).toContain(format.reference)
  },
)
