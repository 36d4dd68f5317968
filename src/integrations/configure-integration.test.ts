import { expect, test } from 'bun:test'
import { sealTarget } from '../alerts/encrypt-channel-target.ts'
import { Closed, parser, Text, Type } from '../core/schema.ts'
import { addressGuard } from '../transport/address-guard.ts'
import { createIntegration } from './configure-integration.ts'
import { outboxFixture } from './delivery/outbox.fixture.ts'
import { connector } from './providers/connector.ts'

interface Settings {
  url: string
  token?: string
  password?: string
}

const ConfigSchema = Closed({
  url: Text(1, 2000),
  token: Type.Optional(Text(1, 100)),
  password: Type.Optional(Text(1, 100)),
})
const parse = parser(ConfigSchema)

/** A connector whose secrets are all optional. */
const lenient = connector<Settings>({
  type: 'team_chat',
  title: 'Lenient',
  help: 'Accepts any settings.',
  secrets: { fields: ['token', 'password'], derived: () => [] },
  operator: [],
  notifies: true,
  configuration: {
    schema: ConfigSchema,
    prepare: (config) => parse(config, 'config'),
    perOrganization: 'many',
    exclusive: [],
    isComplete: () => true,
    origin: () => null,
  },
  connection: { by: 'settings' },
  inbound: [],
  routes: () => [],
})

test.each([
  ['none', {}],
  ['one secret', { password: 'pass-w0rd' }],
])('optional secrets are not returned (given: %s)', (_name, secrets) => {
  const { db, box, clock, orgId } = outboxFixture()
  const parts = { db, box, clock, guard: addressGuard([]), publicUrl: 'https://watch.example', connectors: [lenient] }
  const { record, shown } = createIntegration(parts, orgId, {
    provider: 'team_chat',
    config: { url: 'https://chat.example', ...secrets },
  })
  expect(shown).toEqual({})
  expect(record.config).toEqual({ url: sealTarget(box, 'https://chat.example') })
})

test('an organization can have at most 500 integrations, regardless of other organizations', () => {
  const { db, box, clock, orgId, people } = outboxFixture()
  const parts = { db, box, clock, guard: addressGuard([]), publicUrl: 'https://watch.example', connectors: [lenient] }
  const input = { provider: 'team_chat' as const, config: { url: 'https://chat.example' } }
  db.transaction(() => {
    for (let n = 0; n < 500; n++) createIntegration(parts, orgId, input)
  })()
  expect(() => createIntegration(parts, orgId, input)).toThrow('at most 500 integrations')
  expect(createIntegration(parts, people.mallory.orgId, input).record.orgId).toBe(people.mallory.orgId)
})
