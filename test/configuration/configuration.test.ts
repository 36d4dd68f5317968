import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { FileFaults } from '../../src/configuration/desired.ts'
import { fileSchema } from '../../src/configuration/file-schema.ts'
import { placeholderOf } from '../../src/configuration/placeholders.ts'
import { readYaml } from '../../src/configuration/yaml-file.ts'
import { type TestApp, testApp } from '../test-app.ts'
import { configureAll, ENV, newOrganization, type TestOrganization } from './configured-organization.fixture.ts'

let world: TestApp
beforeAll(async () => {
  world = await testApp()
})
/** Stays empty, because everything that is applied to it is rejected. */
let empty: TestOrganization | undefined
afterAll(() => world[Symbol.asyncDispose]())

const audit = async ({ call }: TestOrganization) => (await call('GET', '/v1/audit-log')).entries as { act: string }[]
const ALERT = `
    name: Blank value
    alertType: data_validation
    period: 1h
    conditions: { logic: any, items: [{ parameter: value, op: is_blank }] }
    channels: [{ type: email, target: owners }]
`
const alertOf = (key: string, more = '') => `alerts:\n  ${key}:${ALERT}${more}`
const alertsOf = async ({ call }: TestOrganization) =>
  (await call('GET', '/v1/alerts')).alerts as { id: string; name: string; managedBy?: { key: string } }[]

test('an export changes nothing in its organization', async () => {
  const org = newOrganization(world)
  await configureAll(org)
  const text = await org.export()
  const before = await audit(org)
  const file = { 'tagwarden.yaml': text }
  for (const env of [{}, ENV]) expect((await org.plan(file, { env }))[0]).toBe('No changes.')
  expect(await org.apply(file)).toEqual([])
  // The first time, the items are marked as managed by the file.
  const marked = await audit(org)
  expect(marked.slice(0, -before.length).map(({ act }) => act)).toEqual(['setManagedItems'])
  expect(marked.slice(-before.length)).toEqual(before)
  expect(await org.apply(file)).toEqual([])
  expect(await audit(org)).toEqual(marked)
  expect(await org.plan(file)).toEqual(['No changes.'])
  expect(await org.export()).toBe(text)
})

test('an export can be applied to another organization, whose export is the same', async () => {
  const [org, other] = [newOrganization(world), newOrganization(world)]
  await configureAll(org)
  const file = { 'tagwarden.yaml': await org.export() }
  await other.apply(file, { env: ENV })
  expect(await other.plan(file)).toEqual(['No changes.'])
  expect(await other.plan(file, { env: ENV })).toEqual(['No changes.'])
  expect(await other.export()).toBe(file['tagwarden.yaml'])
  expect(file['tagwarden.yaml']).not.toMatch(/(?:dom|prj|int|lbl|cal|mnt|alr|tst|ocr|usr|org)_[0-9a-z]{20}/)
  for (const secret of Object.values(ENV)) expect(file['tagwarden.yaml']).not.toContain(secret)
})

test('an export matches the JSON Schema', async () => {
  const org = newOrganization(world)
  await configureAll(org)
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  const check = ajv.compile(fileSchema())
  const { content } = readYaml('tagwarden.yaml', await org.export())
  expect([check(content), check.errors]).toEqual([true, null])
  expect(check({ ...content, surprise: {} })).toBe(false)
  expect(check({ alerts: { x: { name: 'x', surprise: 1 } } })).toBe(false)
})

describe('applying a file', () => {
  test('renames an item, which keeps its identity', async () => {
    const org = newOrganization(world)
    await org.apply({ 'a.yaml': alertOf('blank') })
    const [alert] = await alertsOf(org)
    expect(alert).toMatchObject({ managedBy: { key: 'blank', file: 'a.yaml' } })
    const renamed = { 'a.yaml': alertOf('blank').replace('Blank value', 'Value missing') }
    expect(await org.plan(renamed)).toEqual([
      '~ update alert blank',
      '    name: "Blank value" → "Value missing"',
      '',
      '0 to create, 1 to update, 0 to delete.',
    ])
    expect(await org.apply(renamed)).toEqual(['updated alert blank'])
    expect(await alertsOf(org)).toMatchObject([{ id: alert?.id, name: 'Value missing' }])
  })

  test('deletes only what the file managed, and only with prune', async () => {
    const org = newOrganization(world)
    await org.apply({ 'a.yaml': alertOf('one') + alertOf('two').replace('alerts:\n', ''), 'b.yaml': alertOf('three') })
    const byHand = { ...(await alertsOf(org))[0], name: 'By hand' } as Record<string, unknown>
    for (const field of ['id', 'orgId', 'createdAt', 'updatedAt', 'managedBy']) delete byHand[field]
    await org.call('POST', '/v1/alerts', byHand)
    const file = { 'a.yaml': alertOf('one') }
    const names = async () => (await alertsOf(org)).map(({ managedBy, name }) => managedBy?.key ?? name).sort()
    expect(await org.apply(file)).toEqual([])
    expect(await names()).toEqual(['By hand', 'one', 'three', 'two'])
    expect(await org.plan(file)).toContain('1 managed by file but no longer in it: alert two. Use --prune to delete.')
    expect(await org.apply(file, { prune: true })).toEqual(['deleted alert two'])
    expect(await names()).toEqual(['By hand', 'one', 'three'])
    expect(await org.apply({ 'a.yaml': '' }, { prune: true })).toEqual(['deleted alert one'])
    expect(await names()).toEqual(['By hand', 'three'])
    expect((await org.call('GET', '/v1/org/managed')).managed).toMatchObject([{ key: 'three', file: 'b.yaml' }])
  })

  test('deletes everything that it created', async () => {
    const [org, other] = [newOrganization(world), newOrganization(world)]
    await configureAll(org)
    const empty = await other.export()
    await other.apply({ 'a.yaml': await org.export() }, { env: ENV })
    await other.apply({ 'a.yaml': 'version: 1' }, { prune: true })
    expect(await other.export()).toBe(empty)
    expect((await other.call('GET', '/v1/org/managed')).managed).toEqual([])
  })

  test('finishes what a rejected call interrupted', async () => {
    const org = newOrganization(world)
    const text = `domains: { shop: { name: Shop } }\nprojects: { shops: { name: Shops, domains: [shop] } }`
    const file = { 'a.yaml': text }
    await org.call('POST', '/v1/projects', { name: 'SHOPS' })
    const [project] = (await org.call('GET', '/v1/projects')).projects as { id: string }[]
    await org.call('POST', '/v1/org/managed', { items: [{ id: project?.id, key: 'other', file: 'b.yaml' }] })
    await expect(org.apply(file)).rejects.toThrow('a.yaml:2: projects.shops.name: ')
    await org.call('DELETE', `/v1/projects/${project?.id}`)
    expect(await org.apply(file)).toEqual(['created project shops'])
    expect(await org.plan(file)).toEqual(['No changes.'])
  })

  test('changes secrets to the values of the variables, and keeps them without values', async () => {
    const [org, other] = [newOrganization(world), newOrganization(world)]
    await configureAll(org)
    const file = { 'a.yaml': await org.export() }
    const env = { ...ENV, TICKETS_API_TOKEN: 'new-token', BUY_PASSWORD: 'new password' }
    await other.apply(file, { env: ENV })
    const [token, password] = [placeholderOf('TICKETS_API_TOKEN'), placeholderOf('BUY_PASSWORD')]
    const plan = await other.plan(file, { env })
    expect(plan).toEqual([
      '~ update integration tickets',
      `    config.apiToken: "${token}" → "${token}"`,
      '~ update flow test buy',
      `    secrets.password: "${password}" → "${password}"`,
      '',
      '0 to create, 2 to update, 0 to delete.',
    ])
    await other.apply(file, { env })
    expect(await other.plan(file, { env })).toEqual(['No changes.'])
    expect(await other.plan(file, { env: ENV })).toEqual(plan)
    const renamed = {
      'a.yaml': file['a.yaml'].replaceAll('name: Buy', 'name: Order').replace('label: Tickets', 'label: T'),
    }
    expect(await other.apply(renamed)).toEqual(['updated integration tickets', 'updated flow test buy'])
    expect(await other.plan(renamed, { env })).toEqual(['No changes.'])
  })

  test.each([
    ['alerts: {', 'a.yaml:1: '],
    ['- a', 'a.yaml:1: must be a map of sections'],
    ['version: 2', 'a.yaml:1: version: must be 1'],
    ['alarms: {}', 'a.yaml:1: alarms: there is no such section; use domains, projects'],
    ['alerts: []', 'a.yaml:1: alerts: must be a map'],
    ['alerts:\n  X: {}', 'a.yaml:2: alerts.X: a key must consist of lower-case letters'],
    ['alerts:\n  x: 1', 'a.yaml:2: alerts.x: must be a map of fields'],
    [alertOf('x').replace('period: 1h', 'period: 1y'), 'a.yaml:5: alerts.x.period: '],
    [alertOf('x').replace('    period: 1h\n', ''), 'a.yaml:2: alerts.x.period: is missing'],
    [alertOf('x', '    surprise: 1\n'), 'a.yaml:8: alerts.x.surprise: there is no such field'],
    [alertOf('x', '    domain: shop\n'), 'a.yaml:8: alerts.x.domain: there is no item of domains with the key "shop"'],
    [alertOf('x', '    domainId: dom_1\n'), 'a.yaml:8: alerts.x.domainId: use `domain` with a key instead of an id'],
    [alertOf('x').replace('op: is_blank', 'op: equals'), 'a.yaml:6: alerts.x.conditions.items[0].values: '],
    [
      alertOf('x').replace('owners', `"${placeholderOf('MAIL')}"`),
      'a.yaml:7: alerts.x.channels[0].target: the environment variable MAIL is not set',
    ],
    [`${alertOf('x')}\n${alertOf('x').replace('alerts:\n', '')}`, 'a.yaml:9: Map keys must be unique'],
    [
      `integrations:\n  hook:\n    provider: webhook\n    config: { url: "${placeholderOf('HOOK')}" }`,
      'a.yaml:4: integrations.hook.config.url: the environment variable HOOK is not set',
    ],
    [
      'ownership:\n  rules:\n    - match: {}\n      assignee: nobody@example.com',
      'a.yaml:4: ownership.rules[0].assignee: there is no active member',
    ],
    [
      'maintenance:\n  m: { name: M, from: soon, to: 2026-01-06T02:00:00Z, timezone: UTC }',
      'a.yaml:2: maintenance.m.from: must be a',
    ],
    ['labels:\n  l: { label: L, members: [{ vendor: V }] }', 'a.yaml:2: labels.l.members[0].event: is missing'],
  ])('rejects %j: %s', async (text, fault) => {
    empty ??= newOrganization(world)
    const before = await empty.export()
    const rejection = await empty.apply({ 'a.yaml': text }).catch((error: Error) => error)
    expect((rejection as Error).message).toStartWith(fault)
    expect(await empty.export()).toBe(before)
  })

  test('names every fault before anything is changed', async () => {
    const org = newOrganization(world)
    const text = `domains: { shop: { name: Shop } }\n${alertOf('x').replace('1h', '1y')}`
    const rejection = await org.apply({ 'a.yaml': text, 'b.yaml': `${alertOf('y')}    domain: blog` }).catch((e) => e)
    expect(rejection).toBeInstanceOf(FileFaults)
    expect(rejection.faults).toHaveLength(2)
    expect((await org.call('GET', '/v1/domains')).domains).toEqual([])
  })
})
