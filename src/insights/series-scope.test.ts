import { expect, test } from 'bun:test'
import { cast, memoryDb, testClock } from '../../test/fixtures.ts'
import { volumeInput } from '../alerts/alert.fixture.ts'
import { updateAlert } from '../alerts/alert-store.ts'
import { autoAlertInput, createAutoAlert, domainsWithAutoAlert } from '../alerts/auto-alert.ts'
import { HOUR_MS } from '../core/clock.ts'
import { createDomain } from '../domains/store.ts'
import { SIGNAL_SENSITIVITY } from '../signals/signal.ts'
import { saveSetting } from '../signals/signal-setting-store.ts'
import { signalScope } from './series-scope.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const { orgId } = cast(db, clock)
  const domain = { id: createDomain(db, clock, orgId, { name: 'Shop' }), orgId, name: 'Shop' }
  const charted = (event: string) =>
    signalScope(db, { orgId, domainId: domain.id, vendor: 'GA', event, stepMs: HOUR_MS }).sensitivity
  return { db, clock, orgId, domain, charted }
}

test.each<[string, object, number]>([
  ['unchanged', {}, SIGNAL_SENSITIVITY],
  ['with a sensitivity', { volume: { vendor: '*', sensitivity: 3 } }, 3],
  ['without a sensitivity', { volume: { vendor: '*' } }, 4],
  ['changed to another alert type', { ...volumeInput }, SIGNAL_SENSITIVITY],
])('a chart uses the sensitivity of the automatic alert: %s', (_, change, sensitivity) => {
  const { db, clock, orgId, domain, charted } = setUp()
  const alert = createAutoAlert(db, clock, domain)
  updateAlert(db, clock, { orgId, id: alert?.id ?? '' }, { ...autoAlertInput(domain), ...change })
  expect([charted('view'), ...domainsWithAutoAlert(db).map((watched) => watched.sensitivity)]).toEqual([
    sensitivity,
    sensitivity,
  ])
})

test('a chart uses the sensitivity of its signal; without an alert, the default sensitivity', () => {
  const { db, clock, orgId, domain, charted } = setUp()
  saveSetting(db, clock, orgId, { domainId: domain.id, vendor: 'GA', event: 'view', mode: 'auto', sensitivity: 7 })
  expect([charted('view'), charted('buy')]).toEqual([7, SIGNAL_SENSITIVITY])
})
