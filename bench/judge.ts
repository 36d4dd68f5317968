import type { AlertInput } from '../src/alerts/alert.ts'
import type { Load } from './batch.ts'
import { type Budget, budget } from './budget.ts'
import { client, load, type Measured, makeFolder, start, tagwarden } from './server.ts'

const CONNECTIONS = 32
const SECONDS = Number(process.env.BENCH_SECONDS ?? 8)
const WARM_UP_SECONDS = 2
const ROUNDS = 2
const ALERTS = 1000
const IN_SCOPE = 50
const AT_ONCE = 500

const NO_LIMITS = { TAGWARDEN_RATE_COLLECT_PER_SECOND: '10000000', TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000' }

type Rule = Pick<AlertInput, 'filters' | 'conditions' | 'conditionGroups'>

const any = (...items: NonNullable<Rule['conditions']>['items']): NonNullable<Rule['conditions']> => ({
  logic: 'any',
  items,
})
/** Hold for every event of the load: what filters leave out is not in scope. */
const sent: NonNullable<Rule['filters']> = [{ parameter: '$status', op: 'equals', values: ['ok'] }]
const named: NonNullable<Rule['filters']> = [
  { parameter: '$event', op: 'equals', values: ['page_view', 'purchase', 'add_to_cart', 'scroll'] },
]

/** What people write, each operator that costs something among them. No event of the load breaks one. */
const RULES: readonly Rule[] = [
  { filters: named, conditions: any({ parameter: 'transaction_id', op: 'is_blank' }) },
  { filters: sent, conditions: any({ parameter: 'currency', op: 'not_equals', values: ['EUR', 'USD'] }) },
  { filters: sent, conditions: any({ parameter: 'value', op: 'lt', values: ['0'] }) },
  { conditions: any({ parameter: 'page_location', op: 'not_starts_with', values: ['https://'] }) },
  { conditions: any({ parameter: 'client_id', op: 'regex', values: ['^[0-9]+$'] }) },
  { conditions: any({ parameter: 'page_location', op: 'contains', values: ['localhost', 'staging'] }) },
  { conditions: any({ parameter: 'page_title', op: 'length_gt', values: ['300'] }) },
  { conditions: any({ parameter: 'page_location', op: 'contains_email' }) },
  { conditions: any({ parameter: '*', op: 'contains', values: ['[object Object]'] }) },
  {
    filters: named,
    conditionGroups: [
      { op: 'any', items: [{ parameter: 'language', op: 'is_blank' }] },
      { op: 'all', items: [{ parameter: 'session_id', op: 'is_blank' }] },
    ],
  },
]

/** As many alerts of the domain as are in scope of each of its events; all others are of another one. */
function alertsOf(domainId: string, otherId: string): AlertInput[] {
  return Array.from({ length: ALERTS }, (_, n) => ({
    name: `Rule ${n}`,
    alertType: 'data_validation',
    domainId: n < IN_SCOPE ? domainId : otherId,
    period: '1h',
    channels: [{ type: 'email', target: 'ops@example.com' }],
    ...RULES[n % RULES.length],
  }))
}

interface Stand extends Measured {
  /** Loads the collector for so many seconds. */
  run(seconds: number): Promise<Load>
  /** How many issues there are. */
  issues(): Promise<number>
  remove(): void
}

async function stand(hasAlerts: boolean): Promise<Stand> {
  const { folder, key, remove } = await makeFolder()
  const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), NO_LIMITS)
  const call = client(server.url, key)
  const domain = (name: string) => call<{ id: string; token: string }>('POST', '/v1/domains', { name })
  const [own, other] = [await domain('bench.example'), await domain('other.example')]
  const alerts = hasAlerts ? alertsOf(own.id, other.id) : []
  for (let first = 0; first < alerts.length; first += AT_ONCE) {
    const { failed } = await call<{ failed: number }>('POST', '/v1/alerts/bulk', {
      alerts: alerts.slice(first, first + AT_ONCE),
    })
    if (failed > 0) throw new Error(`${failed} alerts were refused`)
  }
  return {
    ...server,
    run: (seconds) => load(server.url, { token: own.token, connections: CONNECTIONS, seconds, client: 'ordinary' }),
    issues: async () => (await call<{ issues: unknown[] }>('GET', '/v1/issues')).issues.length,
    remove,
  }
}

/** What judging costs the collector: one server with alerts beside one without, in turns. */
export async function benchJudge(): Promise<Budget[]> {
  const stands = [await stand(false), await stand(true)] as const
  const [plain, judging] = stands
  try {
    for (const one of stands) await one.run(WARM_UP_SECONDS)
    const rates = { plain: 0, judging: 0, failures: 0, plainUs: 0, judgingUs: 0 }
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, server] of [['plain', plain] as const, ['judging', judging] as const]) {
        const cpu = server.cpuMs()
        const { requests, seconds, failures } = await server.run(SECONDS)
        rates[name] += requests / seconds / ROUNDS
        rates[`${name}Us`] += ((server.cpuMs() - cpu) * 1000) / requests / ROUNDS
        rates.failures += failures
      }
    }
    console.log(
      `  without alerts ${Math.round(rates.plain)} requests/s (${rates.plainUs.toFixed(1)} us of CPU a request), ` +
        `with ${ALERTS}, ${IN_SCOPE} in scope, ${Math.round(rates.judging)} requests/s (${rates.judgingUs.toFixed(1)} us)`,
    )
    return [
      budget('ingest with 1,000 alerts, 50 in scope / without', rates.judging / rates.plain, 'at least', 0.6),
      budget('requests refused or failed', rates.failures, 'at most', 0),
      budget('issues of rules that nothing breaks', await judging.issues(), 'is', 0),
    ]
  } finally {
    for (const one of stands) {
      await one.stop()
      one.remove()
    }
  }
}
