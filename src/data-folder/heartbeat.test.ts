import { expect, test } from 'bun:test'
import { TEST_START } from '../../test/fixtures.ts'
import { until } from '../../test/run-program.ts'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../core/clock.ts'
import { gapsBetween } from '../signals/gap-store.ts'
import type { Db } from '../store/database.ts'
import { mailbox } from '../transport/receiver.fixture.ts'

const OPERATOR = 'ops@company.example'

const gapsIn = (db: Db) =>
  gapsBetween(db, 0, Number.MAX_SAFE_INTEGER).map(
    ({ fromAt, toAt, cause }) => `${cause} ${(fromAt - TEST_START) / SECOND_MS}–${(toAt - TEST_START) / SECOND_MS}`,
  )

async function metric(world: TestApp, name: string): Promise<number> {
  const { body } = await world.call('GET', '/metrics', { as: null })
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(body)?.[1])
}

/** Runs the program for this number of seconds. */
async function alive(world: TestApp, seconds: number) {
  for (let second = 0; second < seconds; second++) {
    world.clock.advance(SECOND_MS)
    await world.run('heartbeat')
  }
}

test('after a kill, the start of the gap is recorded, and the operator is notified once', async () => {
  await using post = await mailbox()
  await using world = await testApp({ smtpUrl: `smtp://127.0.0.1:${post.port}`, operatorMail: OPERATOR })
  await alive(world, 95)
  expect([gapsIn(world.app.db), world.warnings]).toEqual([[], []])

  // The heartbeat on disk is from second 90.
  world.clock.advance(HOUR_MS)
  await world.crash()
  expect(gapsIn(world.app.db)).toEqual(['down 90–3695'])
  expect(world.warnings).toEqual([expect.stringMatching(/^nothing was collected from 2026-01-05 12:01 UTC/)])
  await world.run('deliver')
  await until('the mail', () => post.mails.length === 1)
  expect([post.mails[0]?.to, post.mails[0]?.source]).toEqual([
    [OPERATOR],
    expect.stringMatching(/Subject: Tagwarden: nothing was collected from/),
  ])

  // Neither elapsed time nor a restart creates another gap.
  await alive(world, 200)
  await world.restart()
  await alive(world, 60)
  expect([gapsIn(world.app.db).length, world.warnings.length, post.mails.length]).toEqual([1, 1, 1])
  expect(await metric(world, 'tagwarden_collect_gaps')).toBe(1)
  expect(await metric(world, 'tagwarden_collect_gap_seconds')).toBe(3605)
})

test('without a mail server or an operator address, the gap is only written to the log', async () => {
  const sent: unknown[] = []
  const transport = {
    async send(outbound: unknown) {
      sent.push(outbound)
      return { kind: 'status', status: 250, headers: {}, body: '' } as const
    },
  }
  for (const settings of [{ operatorMail: OPERATOR }, { smtpUrl: 'smtp://127.0.0.1:1' }, {}]) {
    await using world = await testApp(settings, { transport })
    world.clock.advance(HOUR_MS)
    await world.crash()
    expect([world.warnings.length, sent.length]).toEqual([1, 0])
  }
})

test('gaps are retained for 400 days', async () => {
  await using world = await testApp()
  world.clock.advance(HOUR_MS)
  await world.crash()
  world.clock.advance(400 * DAY_MS)
  await world.run('retain')
  expect(gapsIn(world.app.db)).toHaveLength(1)
  world.clock.advance(1)
  await world.run('retain')
  expect(gapsIn(world.app.db)).toEqual([])
})

test.each([
  ['two hours of downtime after a kill', 2 * HOUR_MS, []],
  ['a quick restart', 60 * SECOND_MS, ['open']],
])('an hour with %s is evaluated only if the gap is short', async (_, awayMs, expected) => {
  await using world = await testApp()
  await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const alert = { name: 'Traffic', alertType: 'volume_threshold', volume: { op: 'lte', count: 0 }, period: '1h' }
  const channels = [{ type: 'email', target: 'ann@example.com' }]
  await world.call('POST', '/v1/alerts', { body: { ...alert, channels } })
  await alive(world, 30)
  world.clock.advance(awayMs)
  await world.crash()
  // The alert's first whole hour begins at the next full hour after it was saved, so that hour is the first that could
  // be evaluated.
  world.clock.set(TEST_START + 2 * HOUR_MS + 40 * SECOND_MS)
  await world.run('evaluate')
  const { body } = await world.call('GET', '/v1/issues')
  expect(body.issues.map(({ status }: { status: string }) => status)).toEqual(expected)
})
