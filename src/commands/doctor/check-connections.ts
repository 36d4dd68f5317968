import type { Config } from '../../config.ts'
import { type Clock, SECOND_MS } from '../../core/clock.ts'
import { AppError, messageOf } from '../../core/error.ts'
import { type Finding, good, wrong } from '../../data-folder/examine-folder.ts'
import { probeMailServer } from '../../transport/mail-transport.ts'
import { operatorFetch } from '../../transport/operator-fetch.ts'
import { codeOf, probeProxy } from '../../transport/outbound-connection.ts'
import { describeClickhouse } from '../../warehouse/open-warehouse.ts'
import type { ComparedClock } from './check-work.ts'

/** Time limit for each probe. */
const TIMEOUT_MS = 10 * SECOND_MS

interface Checked {
  findings: Finding[]
  /** Clocks that the other machines stated. */
  clocks: ComparedClock[]
}

/** Checks the connections to all addresses in the settings, at the same time. Nothing is sent that has an effect. */
export async function checkConnections(config: Config, clock: Clock): Promise<Checked> {
  const [mail, web, warehouse] = await Promise.all([
    checkMail(config, clock),
    checkWeb(config, clock),
    checkWarehouse(config),
  ])
  return { findings: [...mail.findings, ...web.findings, ...warehouse], clocks: [...mail.clocks, ...web.clocks] }
}

async function checkMail({ smtpUrl, outboundCa: ca }: Config, clock: Clock): Promise<Checked> {
  // A missing setting is reported with the settings.
  if (smtpUrl === '') return { findings: [], clocks: [] }
  const answer = await probeMailServer({ smtpUrl, ca, timeoutMs: TIMEOUT_MS }, () => clock.now())
  if (answer.kind === 'error')
    return { findings: [wrong('mail', `${answer.message}; check TAGWARDEN_SMTP_URL`)], clocks: [] }
  const hasUser = URL.parse(smtpUrl)?.username !== ''
  const { clockOffsetMs } = answer
  return {
    findings: [good('mail', `the mail server accepts connections${hasUser ? ' and the sign-in' : ''}`)],
    clocks: clockOffsetMs === null ? [] : [{ of: 'the mail server', offsetMs: clockOffsetMs }],
  }
}

async function checkWarehouse({ warehouse, outboundCa: ca }: Config): Promise<Finding[]> {
  if (warehouse === null) return []
  try {
    return [good('warehouse', await describeClickhouse({ ...warehouse, ca }))]
  } catch (error) {
    return [wrong('warehouse', `${messageOf(error)}; check TAGWARDEN_WAREHOUSE`)]
  }
}

/** Settings with the URL of another machine. Only its root is requested, so that no heartbeat or message is sent. */
const SITES = {
  TAGWARDEN_OIDC_ISSUER: 'oidcIssuer',
  TAGWARDEN_OPERATOR_WEBHOOK_URL: 'operatorWebhookUrl',
  TAGWARDEN_HEARTBEAT_URL: 'heartbeatUrl',
} as const satisfies Record<string, keyof Config>

/** Statuses with which a proxy refuses to forward a plain HTTP request, or fails to. */
const PROXY_FAILURES = new Set([407, 502, 504])

async function checkWeb(config: Config, clock: Clock): Promise<Checked> {
  const fetchFrom = operatorFetch({ proxy: config.outboundProxy, ca: config.outboundCa })
  const sites = Object.entries(SITES).flatMap(([name, key]) => (config[key] === '' ? [] : [{ name, url: config[key] }]))
  const results = await Promise.all(
    sites.map(async ({ name, url }): Promise<Checked & { isReached: boolean }> => {
      const sentAt = clock.now()
      try {
        const signal = AbortSignal.timeout(TIMEOUT_MS)
        const { headers, status } = await fetchFrom(`${new URL(url).origin}/`, { method: 'HEAD', headers: {}, signal })
        if (config.outboundProxy !== '' && PROXY_FAILURES.has(status))
          throw new AppError('upstream', `the proxy answered with status ${status}`)
        const receivedAt = clock.now()
        const at = Date.parse(headers.get('date') ?? '')
        // The header has no fractions of a second: https://www.rfc-editor.org/rfc/rfc9110#section-6.6.1
        const offsetMs = at + SECOND_MS / 2 - (sentAt + receivedAt) / 2
        const clocks = Number.isNaN(at) ? [] : [{ of: `the server of ${name}`, offsetMs }]
        return { findings: [good('outbound', `the server of ${name} answers`)], clocks, isReached: true }
      } catch (error) {
        const says = `the server of ${name} cannot be reached: ${reasonOf(error)}; check the URL, the firewall and TAGWARDEN_OUTBOUND_CA`
        return { findings: [wrong('outbound', says)], clocks: [], isReached: false }
      }
    }),
  )
  const isReached = results.some((one) => one.isReached)
  return {
    findings: [...(await checkProxy(config, isReached)), ...results.flatMap(({ findings }) => findings)],
    clocks: results.flatMap(({ clocks }) => clocks),
  }
}

async function checkProxy({ outboundProxy }: Config, isReached: boolean): Promise<Finding[]> {
  if (outboundProxy === '') return []
  if (isReached) return [good('proxy', 'the outbound proxy forwards requests')]
  const code = await probeProxy(outboundProxy, TIMEOUT_MS)
  return code === null
    ? [good('proxy', 'the outbound proxy accepts connections; no request was forwarded')]
    : [wrong('proxy', `the outbound proxy cannot be reached: ${code}; check TAGWARDEN_OUTBOUND_PROXY`)]
}

/** The messages of other errors can contain URLs. */
function reasonOf(error: unknown): string {
  if (error instanceof AppError) return messageOf(error)
  if ((error as { name?: unknown } | null)?.name === 'TimeoutError')
    return `no response within ${TIMEOUT_MS / SECOND_MS} s`
  return codeOf(error)
}
