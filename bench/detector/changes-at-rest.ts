import { noteChange } from '../../src/changes/store.ts'
import { MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import { testApp } from '../../test/test-app.ts'
import { IS_TINY, sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'

const EVENTS = sized(260_000, 12_000)
const CHANGES = 12
/** Length of the watch window of a change, and of the traffic before it. */
const MINUTES = sized(60, 10)
const BATCH_EVENTS = 100
const EVENT_NAMES = ['page_view', 'view_item', 'add_to_cart', 'begin_checkout', 'purchase']
const VENDORS = ['GA4', 'Meta', 'TikTok']

/**
 * Measures the processor time for evaluating twelve library changes of one domain that happened at the same time, from
 * the change to the end of the watch window. Half of the events were received before the changes.
 */
export async function benchChangesAtRest(): Promise<Budget[]> {
  await using world = await testApp()
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const perMinute = Math.ceil(EVENTS / (2 * MINUTES) / BATCH_EVENTS)
  let sent = 0
  const minute = async () => {
    for (let n = 0; n < perMinute; n++) {
      const sessionId = `s${sent}`
      const events = Array.from({ length: BATCH_EVENTS }, () => ({
        vendor: VENDORS[sent % VENDORS.length],
        event: EVENT_NAMES[sent++ % EVENT_NAMES.length],
        params: {
          value: sent % 90,
          currency: 'EUR',
          item_id: `i${sent % 500}`,
          page: `/p/${sent % 200}`,
          list: 'shop',
        },
      }))
      await world.collect(domain.token, { sessionId, version: 1, events })
    }
    world.clock.advance(MINUTE_MS)
    await world.run('flush', 'compact')
  }
  for (let n = 0; n < MINUTES; n++) await minute()
  const { db, jobs } = world.app
  const at = world.clock.now()
  for (let n = 0; n < CHANGES; n++) {
    const ref = `https://cdn.example.com/library-${n}.js`
    noteChange(db, at, {
      orgId: world.owner.orgId,
      domainId: domain.id,
      source: 'library',
      ref,
      title: `GA4 is loaded from ${ref}`,
      occurredAt: at,
      windowMinutes: MINUTES,
    })
  }
  const measured: number[] = []
  for (let n = 0; n <= MINUTES; n++) {
    await minute()
    const before = process.cpuUsage()
    for (const name of ['detect releases', 'evaluate changes']) await jobs.find((job) => job.name === name)?.run()
    const { user, system } = process.cpuUsage(before)
    measured.push((user + system) / 1000)
  }
  const totalMs = measured.reduce((sum, ms) => sum + ms, 0)
  const average = (100 * totalMs) / (measured.length * 60 * SECOND_MS)
  const worst = (100 * Math.max(...measured)) / (60 * SECOND_MS)
  return [
    budget(`processor time for ${CHANGES} changes, in % of a core`, average, 'at most', 10),
    budget('… in the busiest minute', worst, 'at most', IS_TINY ? 100 : 50),
  ]
}
