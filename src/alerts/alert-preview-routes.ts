import type { CalendarsRoom } from '../calendars/room.ts'
import { MAX_RULE_COST } from '../conditions/condition.ts'
import { maskedHistory } from '../conditions/masked-history.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { type Clock, DAY_MS } from '../core/clock.ts'
import { may } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import { type Route, route } from '../http/route.ts'
import { membersOf } from '../labels/store.ts'
import { specialPeriods } from '../maintenance/special-periods.ts'
import type { ChartedScope } from '../maintenance/store.ts'
import type { SignalSetting } from '../signals/signal.ts'
import type { Db } from '../store/database.ts'
import { type History, withSignal } from '../warehouse/warehouse.ts'
import { type Alert, domainsOf } from './alert.ts'
import { MAX_PREVIEW_BODY_BYTES, readAlertInput, withPathPrefix } from './alert-input.ts'
import { AlertPreviewInputSchema, AlertPreviewSchema, preview } from './alert-preview.ts'
import { alertFrom, checkDomains, watchedDomains } from './alert-store.ts'
import { AlertBacktestInputSchema, AlertBacktestSchema, backtest, backtestSeries } from './backtest.ts'
import type { HistoryDeps } from './judge-past-events.ts'
import type { GapsOf } from './unreliable-windows.ts'

export interface PreviewRouteDeps {
  db: Db
  clock: Clock
  warehouse: History
  /** Returns the organization's privacy settings. */
  privacyOf(orgId: string): Privacy
  gapsOf: GapsOf
  settingsOf(orgId: string): readonly SignalSetting[]
  holidaysOf: CalendarsRoom['holidaysOf']
}

const tag = 'Alerts'

/** Routes for previews and backtests: the findings of a rule on past events, before the rule is saved. */
export function previewRoutes(parts: PreviewRouteDeps): Route[] {
  const { db, clock, gapsOf, settingsOf, holidaysOf } = parts
  const pastOf = (principal: Principal, signal: AbortSignal): HistoryDeps => {
    const { orgId } = principal
    const privacy = parts.privacyOf(orgId)
    const history = withSignal(parts.warehouse, signal)
    return {
      gapsOf,
      settingsOf,
      holidaysOf,
      privacy,
      warehouse: may(principal, 'seePersonal') ? history : maskedHistory(history, privacy),
      domains: watchedDomains(db, orgId),
      membersOf: membersOf(db, orgId),
    }
  }
  return [
    route({
      id: 'previewAlert',
      method: 'POST',
      path: '/v1/alerts/preview',
      access: 'read',
      tag,
      summary: 'Preview a rule on recent events without saving it',
      refusals: ['unavailable'],
      tool: true,
      question: true,
      maxBodyBytes: MAX_PREVIEW_BODY_BYTES,
      body: AlertPreviewInputSchema,
      answer: AlertPreviewSchema,
      handle: ({ principal, body: { rule, hours = 24 }, signal }) =>
        preview(ruleOf(db, principal.orgId, rule), hours, clock.now(), pastOf(principal, signal)),
    }),
    route({
      id: 'backtestAlert',
      method: 'POST',
      path: '/v1/alerts/backtest',
      access: 'read',
      tag,
      summary: 'Backtest a rule on recent history without saving it',
      description:
        "Evaluates the rule's completed windows in the same way as the scheduler. Per-minute counts are retained longer than " +
        'events, so a rule on single events covers only the events that are still stored.',
      refusals: ['unavailable'],
      tool: true,
      question: true,
      maxBodyBytes: MAX_PREVIEW_BODY_BYTES,
      body: AlertBacktestInputSchema,
      answer: AlertBacktestSchema,
      async handle({ principal, body: { rule, days = 14, sensitivities, series }, signal }) {
        const [alert, now, past] = [ruleOf(db, principal.orgId, rule), clock.now(), pastOf(principal, signal)]
        const judged = await backtest(alert, days, now, past, sensitivities)
        const window = { from: now - days * DAY_MS, to: now }
        return {
          ...judged,
          ...(series && { series: await backtestSeries(alert, days, now, past) }),
          specialPeriods: await specialPeriods(db, chartedScope(alert, past), window),
        }
      },
    }),
  ]
}

/** Returns the events whose special periods are shown with a backtest. */
function chartedScope(alert: Alert, { domains }: HistoryDeps): ChartedScope {
  const own = domainsOf(alert)
  const [vendor = null, ...others] = alert.vendors ?? []
  return {
    orgId: alert.orgId,
    domainIds: own.length > 0 ? own : domains.map(({ id }) => id),
    vendor: others.length > 0 ? null : vendor,
  }
}

/** Returns an alert that is not stored. Errors name fields with a prefix, such as `rule.period`. */
function ruleOf(db: Db, orgId: string, value: unknown): Alert {
  const input = readAlertInput(value, 'rule', MAX_RULE_COST)
  withPathPrefix('rule', () => checkDomains(db, orgId, input))
  return alertFrom(input, { id: 'alr_trial', orgId, createdAt: 0, updatedAt: 0 })
}
