import type { AlertChannel } from '../alerts/alert.ts'
import { acceptChannels, showChannels } from '../alerts/encrypt-channel-target.ts'
import { type Clock, DAY_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { hasDomain, NO_SUCH_DOMAIN } from '../domains/store.ts'
import type { Principal } from '../http/principal.ts'
import { type Route, route } from '../http/route.ts'
import type { Enqueue } from '../issues/issue.ts'
import { issuesOfAlert, resolveAll } from '../issues/store.ts'
import type { Db } from '../store/database.ts'
import {
  type CaptureRule,
  CaptureRulesInputSchema,
  CaptureRulesSchema,
  type CaptureStatus,
  CaptureStatusSchema,
  checkRules,
  withDefaults,
} from './capture-rule.ts'
import { settlingMs } from './count-orders.ts'
import { oneDecimal } from './judge-rule.ts'
import { countsSince, replaceRules, rulesOf, type StoredRule } from './store.ts'

export interface CaptureRouteDeps {
  db: Db
  /** Encrypts channel targets. */
  box: SecretBox
  clock: Clock
  enqueue: Enqueue
  /** Throws an `AppError` that names the channel when a channel can't deliver messages. */
  checkChannels(channels: readonly AlertChannel[], orgId: string): void
}

const tag = 'Orders'

/** Returns the routes under `/v1/orders/capture`. */
export function captureRoutes({ db, box, clock, enqueue, checkChannels }: CaptureRouteDeps): Route[] {
  const shown = (principal: Principal) => ({
    rules: rulesOf(db, principal.orgId).map(({ orgId: _, countedTo: _1, state: _2, ...rule }) => ({
      ...rule,
      channels: showChannels(box, rule.channels, principal),
    })),
  })
  return [
    route({
      id: 'getOrderCapture',
      method: 'GET',
      path: '/v1/orders/capture',
      access: 'read',
      tag,
      summary: 'List the rules that check whether orders reach a vendor',
      tool: true,
      answer: CaptureRulesSchema,
      handle: ({ principal }) => shown(principal),
    }),
    route({
      id: 'putOrderCapture',
      method: 'PUT',
      path: '/v1/orders/capture',
      access: 'edit',
      tag,
      summary: 'Replace the rules that check whether orders reach a vendor',
      description:
        'A rule with an `id` keeps its learned range; without one, a new rule is created. Rules that are not in the list are deleted. ' +
        'A rule requires only a domain and a vendor.',
      tool: true,
      body: CaptureRulesInputSchema,
      answer: CaptureRulesSchema,
      handle({ principal, body }) {
        const { orgId, userId } = principal
        const now = clock.now()
        const before = new Map(rulesOf(db, orgId).map((rule) => [rule.id, rule]))
        checkRules(body.rules, new Set(before.keys()))
        const rules = body.rules.map((input, index): CaptureRule => {
          const { id, ...rule } = withDefaults(input)
          if (!hasDomain(db, { orgId, id: rule.domainId })) {
            throw new AppError('invalid', `rules[${index}].domainId: ${NO_SUCH_DOMAIN}`)
          }
          const channels = at(`rules[${index}].`, () =>
            acceptChannels(box, rule.channels, {
              stored: before.get(id ?? '')?.channels ?? [],
              check: (channels) => checkChannels(channels, orgId),
            }),
          )
          return { ...rule, channels, id: id ?? newId('ocr', now) }
        })
        replaceRules(db, orgId, rules)
        const enabled = rules.filter((rule) => rule.enabled)
        const checked = new Set(enabled.flatMap(({ id, domainId }) => [id, domainId]))
        const old = new Set([...before.values()].flatMap(({ id, domainId }) => [id, domainId]))
        for (const id of old) if (!checked.has(id)) resolveAll(db, id, { orgId, by: userId, now }, enqueue)
        return shown(principal)
      },
    }),
    route({
      id: 'getOrderCaptureStatus',
      method: 'GET',
      path: '/v1/orders/capture/status',
      access: 'read',
      tag,
      summary: 'Show the learned and the current share of captured orders of each rule',
      tool: true,
      answer: CaptureStatusSchema,
      handle: ({ principal: { orgId } }) => ({
        rules: rulesOf(db, orgId).map((rule) => statusOf(db, rule, clock.now())),
      }),
    }),
  ]
}

/** Like `atField`, for errors that already begin with a field. */
function at<T>(path: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw error instanceof AppError ? error.at(path) : error
  }
}

function statusOf(db: Db, rule: StoredRule, now: number): CaptureStatus {
  const { id, enabled, countedTo, state } = rule
  const open = issuesOfAlert(db, id, now).filter(({ status }) => status !== 'resolved')
  const counts = countsSince(db, id, countedTo - settlingMs(rule) - DAY_MS)
  const orders = counts.reduce((sum, count) => sum + count.orders, 0)
  const captured = counts.reduce((sum, count) => sum + count.captured, 0)
  const pct = (share: number) => oneDecimal(share * 100)
  return {
    id,
    state: !enabled ? 'off' : open.length > 0 ? 'issue' : state.usual === null ? 'learning' : 'normal',
    usual: state.usual && {
      pct: pct(1 - state.usual.share),
      lowPct: pct(1 - state.usual.high),
      highPct: pct(1 - state.usual.low),
    },
    capturePct: orders === 0 ? null : pct(captured / orders),
    orders,
    countedTo: countedTo === 0 ? null : countedTo,
    issueIds: open.map((issue) => issue.id),
  }
}
