import { expect, test } from 'bun:test'
import { Closed } from '../../core/schema.ts'
import { NO_SECRETS } from '../providers/channel.ts'
import { connector } from '../providers/connector.ts'
import { insertIntegration } from '../store.ts'
import { Dispatcher } from './dispatcher.ts'
import { outboxFixture } from './outbox.fixture.ts'
import { testIntegration } from './send-test.ts'

/** A connector that sends no notifications and whose connection test waits until it is aborted. */
const patient = connector({
  type: 'tag_manager',
  title: 'Patient',
  help: 'Waits.',
  secrets: NO_SECRETS,
  operator: [],
  configuration: {
    schema: Closed({}),
    prepare: () => ({}),
    perOrganization: 'many',
    exclusive: [],
    isComplete: () => true,
    origin: () => null,
  },
  connection: { by: 'settings' },
  inbound: [],
  routes: () => [],
  notifies: false,
  test: ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    }),
})

test('a test interrupted by a shutdown returns that reason and is not reported as a bug', async () => {
  const { db, clock, box, people } = outboxFixture()
  const stopping = new AbortController()
  const reported: unknown[] = []
  const parts = {
    db,
    clock,
    box,
    mailConfigured: false,
    jitter: () => 0,
    transport: { send: async () => ({ kind: 'error', message: 'no connection', permanent: true }) as const },
    report: (error: unknown) => void reported.push(error),
  }
  const dispatcher = new Dispatcher(parts, stopping.signal)
  const made = { orgId: people.orgId, provider: 'tag_manager', label: 'Tags', config: {}, secrets: {} } as const
  const integration = insertIntegration(db, box, { ...made, createdAt: clock.now() })
  const testing = testIntegration(
    { dispatcher, connectors: [patient], publicUrl: 'https://watch.example' },
    integration,
  )
  stopping.abort()
  await expect(testing).rejects.toMatchObject({ code: 'upstream', message: 'the test failed: the server was stopped' })
  expect(reported).toEqual([])
})
