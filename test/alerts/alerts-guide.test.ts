import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ALERT_KINDS, alertTypes } from '../../src/alerts/types/index.ts'
import { EVENT_FIELDS } from '../../src/conditions/condition.ts'
import { OPERATORS } from '../../src/contract/condition-operators.ts'
import { openApiDocument } from '../../src/openapi/openapi.ts'
import { testApp } from '../test-app.ts'

const guide = readFileSync(join(import.meta.dir, '../../docs/use/alerts.md'), 'utf8')

interface Example {
  title: string
  alert: Record<string, unknown>
  /**
   * One request that violates the rule and one that does not. Empty for types whose rules cover more than one event.
   */
  requests: string[]
}

const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block)

const examples = guide
  .split(/^### /m)
  .slice(1)
  .map((section): Example => {
    const [json = ''] = blocks(section, 'json')
    const requests = blocks(section, 'text').flatMap((block) => block.trim().split('\n'))
    return { title: section.slice(0, section.indexOf('\n')), alert: JSON.parse(json), requests }
  })

/** Types with example alerts in the guide. Other types only have a row in its table. */
const SHOWN = ['data_validation', 'tag_volume_change', 'volume_threshold', 'volume_anomaly', 'journey']

test('the guide has ten alerts that cover every documented type, with requests for alerts that check single events', () => {
  expect(examples.map(({ title }) => title.split('.', 1)[0])).toEqual(
    Array.from({ length: 10 }, (_, at) => `${at + 1}`),
  )
  expect(new Set(examples.map(({ alert }) => alert.alertType))).toEqual(new Set(SHOWN))
  for (const { alert, requests } of examples) {
    expect([alert.name, requests.length]).toEqual([alert.name, alert.alertType === 'data_validation' ? 2 : 0])
  }
})

test('the guide documents every type, operator and event field', () => {
  const words = [...ALERT_KINDS, ...OPERATORS, ...Object.keys(EVENT_FIELDS).map((field) => `$${field}`)]
  expect(words.filter((word) => !guide.includes(`\`${word}\``))).toEqual([])
})

test('the example of each type can be saved without its domain', async () => {
  await using t = await testApp()
  for (const {
    kind,
    form: { example },
  } of alertTypes) {
    const made = await t.call('POST', '/v1/alerts', { body: { ...example, domainId: undefined } })
    expect([kind, made.status, made.body.alertType]).toEqual([kind, 201, kind])
  }
})

describe('each alert in the guide', () => {
  test.each(examples.map((example) => [example.title, example] as const))('%s', async (_title, { alert, requests }) => {
    await using t = await testApp()
    const { body: domain } = await t.call('POST', '/v1/domains', { body: { name: 'Shop' } })
    const made = await t.call('POST', '/v1/alerts', { body: alert })
    expect([made.status, made.body.error]).toEqual([201, undefined])
    if (requests.length === 0) return
    const now = t.clock.now()
    const taken = await t.collect(domain.token, { batchId: 'alerts-guide', hits: requests.map((url) => ({ url })) })
    expect(taken.body).toMatchObject({ accepted: 2, rejected: 0 })
    await t.at(now + 1000)
    const { body } = await t.call('GET', '/v1/events?limit=10')
    const oldestFirst = (body.events as { violations: string[] | null }[]).toReversed()
    expect(oldestFirst.map(({ violations }) => violations)).toEqual([[made.body.id], null])
    const { body: found } = await t.call('GET', '/v1/issues')
    expect(found.issues.map(({ alertId, occurrences }: Record<string, unknown>) => [alertId, occurrences])).toEqual([
      [made.body.id, 1],
    ])
  })
})

test('the API description contains the guide under its heading', async () => {
  await using t = await testApp()
  const { tags } = openApiDocument(t.app.routes)
  const { description = '' } = tags.find(({ name }) => name === 'Alerts') ?? {}
  expect(description).toContain('## Conditions\n')
  for (const { alert } of examples) expect(description).toContain(`"name": "${alert.name}"`)
})
