import { DAY_MS } from './core/clock.ts'
import { AppError } from './core/error.ts'
import { isOfKubernetes, PREFIX, rawSetting, SettingError, type SettingSource, variablesOf } from './setting-source.ts'
import {
  address,
  blocks,
  collectorToken,
  cronPattern,
  type GroupRole,
  groupRoles,
  issuer,
  mailAddress,
  oneOf,
  parsed,
  regionName,
  secretAddress,
  size,
  text,
  webAddress,
  whole,
} from './setting-values.ts'
import { addressGuard } from './transport/address-guard.ts'
import { CLICKHOUSE_URL, type ClickhouseLogin, parseClickhouseUrl } from './transport/clickhouse-url.ts'
import { readCertificates } from './transport/trusted-certificates.ts'

/** A server setting, given as a flag or as `TAGWARDEN_<NAME>`. */
interface Setting<T> extends SettingSource {
  meaning: string
  read(text: string, name: string): T
}

/** The settings of single sign-on. */
export interface OidcSettings {
  /** Exactly as in the provider's metadata. Plain HTTP only for loopback addresses. */
  issuer: string
  clientId: string
  /** Empty for a public client, which is authenticated only by redirect URL and PKCE. */
  clientSecret: string
  /** Display name. */
  name: string
  groupsClaim: string
  roles: readonly GroupRole[]
  /** Null selects the only organization. */
  orgId: string | null
}

function setting<T>(name: string, fallback: string, meaning: string, read: Setting<T>['read']): Setting<T> {
  return { name, default: fallback, meaning, read }
}

/** All server settings except those of integration providers. */
const SETTINGS = {
  data: setting('DATA', './data', 'Data folder', text),
  listen: setting('LISTEN', '127.0.0.1:8787', 'HOST:PORT of the server', address),
  collectListen: setting(
    'COLLECT_LISTEN',
    '',
    'HOST:PORT of a separate listener for the collector. Empty: same as the server',
    address,
  ),
  publicUrl: setting('PUBLIC_URL', '', 'Public URL of the server. Empty: derived from LISTEN', webAddress),
  collectUrl: setting(
    'COLLECT_URL',
    '',
    'Public URL of the collector, used by browsers. Empty: PUBLIC_URL',
    webAddress,
  ),
  endpointLock: setting(
    'ENDPOINT_LOCK',
    'off',
    'on: the URL to which a domain sends its events cannot be changed',
    oneOf('on', 'off'),
  ),
  smtpUrl: {
    ...setting(
      'SMTP_URL',
      '',
      'Mail server, smtp://user:password@host:port. Empty: no e-mail',
      secretAddress('smtp://user:password@host:port', 'smtp:', 'smtps:'),
    ),
    secret: true,
  },
  mailFrom: setting('MAIL_FROM', 'Tagwarden <tagwarden@localhost>', 'Sender of e-mails', text),
  operatorMail: setting(
    'OPERATOR_MAIL',
    '',
    'E-mail address for messages about this server, such as a full disk. Empty: no e-mail. Requires SMTP_URL',
    mailAddress,
  ),
  operatorWebhookUrl: {
    ...setting(
      'OPERATOR_WEBHOOK_URL',
      '',
      'https URL to which messages about this server are posted as JSON, such as an incoming webhook of a chat. Empty: none',
      secretAddress('an https URL', 'https:', 'http:'),
    ),
    secret: true,
  },
  heartbeatUrl: {
    ...setting(
      'HEARTBEAT_URL',
      '',
      'https URL requested every minute while the server is ready, such as a check of Healthchecks. Empty: none',
      secretAddress('an https URL', 'https:', 'http:'),
    ),
    secret: true,
  },
  warehouse: {
    ...setting(
      'WAREHOUSE',
      '',
      `ClickHouse database that stores the events, ${CLICKHOUSE_URL}. Empty: files in the data folder`,
      parsed<ClickhouseLogin | null>(null, parseClickhouseUrl),
    ),
    secret: true,
  },
  control: setting(
    'CONTROL',
    '',
    'Only for tagwarden collect: URL of the control node, https://host. http only for hosts in OUTBOUND_ALLOW',
    webAddress,
  ),
  collectorToken: {
    ...setting(
      'COLLECTOR_TOKEN',
      '',
      'Only for tagwarden collect: token of the collector, from tagwarden collectors add',
      collectorToken,
    ),
    secret: true,
  },
  outboundAllow: setting(
    'OUTBOUND_ALLOW',
    '',
    'Private or loopback hosts or CIDRs that outbound requests, such as webhooks, can reach, comma-separated',
    (value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
  ),
  outboundProxy: {
    ...setting(
      'OUTBOUND_PROXY',
      '',
      'HTTP proxy for outbound requests, http://user:password@host:port',
      secretAddress('http://user:password@host:port', 'http:'),
    ),
    secret: true,
  },
  outboundCa: setting(
    'OUTBOUND_CA',
    '',
    'PEM file of additional certificate authorities trusted for all outbound connections. Empty: none',
    parsed('', readCertificates, 'must be a PEM file of certificates; '),
  ),
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    '',
    'Addresses or CIDRs of proxies whose X-Forwarded-For header is trusted, comma-separated',
    blocks,
  ),
  countryFile: setting(
    'COUNTRY_FILE',
    '',
    'File or folder with the countries of IP addresses, from MaxMind, IP2Location or DB-IP in CSV format. Empty: events have no country',
    text,
  ),
  maxConnections: setting(
    'MAX_CONNECTIONS',
    '4000',
    'Maximum concurrent requests (others get 503) and maximum connections (idle ones are closed)',
    whole(1, 1_000_000),
  ),
  requestTimeoutS: setting(
    'REQUEST_TIMEOUT_S',
    '60',
    'Seconds after which an unanswered request gets 503',
    // The connection is closed 15 s later; Bun allows at most 255 s.
    whole(1, 240),
  ),
  rateKeyPerMinute: setting(
    'RATE_KEY_PER_MINUTE',
    '600',
    'Maximum requests per minute for each API key',
    whole(1, 10_000_000),
  ),
  rateCollectPerSecond: setting(
    'RATE_COLLECT_PER_SECOND',
    '5000',
    'Maximum requests per second for each property token',
    whole(1, 10_000_000),
  ),
  rateSigninPerMinute: setting(
    'RATE_SIGNIN_PER_MINUTE',
    '60',
    'Maximum sign-ins per minute from each IP address',
    whole(1, 1_000_000),
  ),
  queryTimeoutS: setting(
    'QUERY_TIMEOUT_S',
    '20',
    "Seconds after which a caller's query of the event history is cancelled with 503",
    whole(1, 3600),
  ),
  questionsAtOnce: setting(
    'QUESTIONS_AT_ONCE',
    '4',
    'Maximum concurrent queries of the event history (search, preview, charts, …); others wait. Two more can run for insights, which read more data',
    whole(1, 1000),
  ),
  questionsPerOrganization: setting(
    'QUESTIONS_PER_ORGANIZATION',
    '3',
    'Maximum of these for each organization',
    whole(1, 1000),
  ),
  questionsPerCaller: setting(
    'QUESTIONS_PER_CALLER',
    '2',
    'Maximum of these for each user, including all API keys and sessions',
    whole(1, 1000),
  ),
  maxEventsRead: setting(
    'MAX_EVENTS_READ',
    '20000000',
    'Maximum number of events that a dictionary, session flows or suggestions read. Larger scopes are sampled by session',
    whole(1000, 1_000_000_000),
  ),
  retentionDays: setting('RETENTION_DAYS', '90', 'Days for which events are stored', whole(1, 36_500)),
  diskBudget: setting(
    'DISK_BUDGET',
    '',
    'Maximum disk space for collected data, such as 20GB, shared fairly by organizations. Empty: no limit',
    size,
  ),
  logLevel: setting('LOG_LEVEL', 'info', 'Minimum severity of log lines', oneOf('debug', 'info', 'warn', 'error')),
  oidcIssuer: setting(
    'OIDC_ISSUER',
    '',
    "URL of the company's OpenID Connect provider for sign-in. Empty: off",
    issuer,
  ),
  oidcClientId: setting('OIDC_CLIENT_ID', '', 'Client ID of this server at the provider', text),
  oidcClientSecret: {
    ...setting('OIDC_CLIENT_SECRET', '', 'Client secret of this server at the provider. Empty: a public client', text),
    secret: true,
  },
  oidcName: setting('OIDC_NAME', 'your company', 'Display name of the provider in "Sign in with …"', text),
  oidcGroupsClaim: setting('OIDC_GROUPS_CLAIM', 'groups', "Claim that lists a user's groups", text),
  oidcRoles: setting(
    'OIDC_ROLES',
    '',
    'Roles by group, GROUP=ROLE, comma-separated. The highest role applies; users without one cannot sign in',
    groupRoles,
  ),
  oidcOrg: setting('OIDC_ORG', '', 'ID of the organization that users join. Empty: the only organization', text),
  chromium: setting(
    'CHROMIUM',
    '',
    'Chromium executable for flow tests and audits. Empty: searched for in the usual locations',
    text,
  ),
  flowConcurrency: setting(
    'FLOW_CONCURRENCY',
    '1',
    'Maximum concurrent browsers for flow tests and audits',
    whole(1, 64),
  ),
  region: setting('REGION', 'local', 'Location of this server, shown with each run', regionName),
  runRetentionDays: setting(
    'RUN_RETENTION_DAYS',
    '30',
    'Days for which screenshots and HARs of runs are stored; other data of a run is stored for 400 days',
    whole(1, 36_500),
  ),
  backupTo: setting('BACKUP_TO', '', 'Folder or s3://bucket/prefix for scheduled backups. Empty: none', text),
  backupSchedule: setting('BACKUP_SCHEDULE', '0 3 * * *', 'Times of backups as a cron pattern, in UTC', cronPattern),
  backupKeep: setting('BACKUP_KEEP', '7', 'Number of backups that are kept in BACKUP_TO', whole(1, 10_000)),
} satisfies Record<string, Setting<unknown>>

export type SettingName = keyof typeof SETTINGS
type OwnConfig = { [K in SettingName]: ReturnType<(typeof SETTINGS)[K]['read']> }

export interface Config extends OwnConfig {
  /** The settings of integration providers, by name without the prefix. */
  providers: Readonly<Record<string, string>>
}

/** A server-wide setting of an integration provider, read from `TAGWARDEN_<name>`. It is never a secret. */
export interface OperatorSetting {
  name: string
  default: string
  meaning: string
  /** Returns the reason why a value is invalid, as `must be …`. Null if it is valid. */
  fault(text: string): string | null
}

type Flags = Partial<Record<string, string>>

/**
 * Reads all settings. Throws `SettingError` for an invalid value or an unknown `TAGWARDEN_` variable. `ofProviders`: the
 * settings of the integration providers.
 */
export function readConfig(
  flags: Partial<Record<SettingName, string>>,
  env: NodeJS.ProcessEnv,
  ofProviders: readonly OperatorSetting[] = [],
): Config {
  const known = variablesOf([...Object.values(SETTINGS), ...ofProviders])
  const stranger = Object.keys(env).find(
    (name) => name.startsWith(PREFIX) && !known.has(name) && !isOfKubernetes(name, env[name]),
  )
  if (stranger) throw new SettingError(`${stranger}: unknown setting; see tagwarden config`)
  const own = Object.fromEntries(
    Object.entries(SETTINGS).map(([key, entry]) => [
      key,
      entry.read(rawSetting(entry, (flags as Flags)[key], env), PREFIX + entry.name),
    ]),
  ) as OwnConfig
  const providers = Object.fromEntries(ofProviders.map((one) => [one.name, providerSetting(one, flags, env)]))
  const config = { ...own, providers }
  oidcSettings(config)
  checkOutbound(config)
  return config
}

/** Throws `SettingError` when a URL that the server calls is not allowed. The error does not repeat the URL. */
function checkOutbound(config: OwnConfig): void {
  for (const name of ['operatorWebhookUrl', 'heartbeatUrl'] as const) {
    if (config[name] === '') continue
    try {
      addressGuard(config.outboundAllow).checkUrl(config[name])
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      throw new SettingError(`${PREFIX}${SETTINGS[name].name}: ${error.message}`)
    }
  }
}

/** Returns the setting of an integration provider, which validates the string itself. */
function providerSetting(setting: OperatorSetting, flags: Flags, env: NodeJS.ProcessEnv): string {
  const value = rawSetting(setting, flags[setting.name], env)
  const wrong = setting.fault(value)
  if (wrong === null) return value
  throw new SettingError(`${PREFIX}${setting.name}: ${wrong}`)
}

/**
 * Returns the single sign-on settings; null when single sign-on is not configured. Throws `SettingError` when one of
 * them is missing.
 */
export function oidcSettings(config: OwnConfig): OidcSettings | null {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcName, oidcGroupsClaim, oidcRoles, oidcOrg } = config
  if (oidcIssuer === '') return null
  const missing = (['oidcClientId', 'oidcRoles', 'oidcName', 'oidcGroupsClaim'] as const).find(
    (name) => config[name].length === 0,
  )
  if (missing)
    throw new SettingError(`${PREFIX}${SETTINGS[missing].name}: must be set when ${PREFIX}OIDC_ISSUER is set`)
  return {
    issuer: oidcIssuer,
    clientId: oidcClientId,
    clientSecret: oidcClientSecret,
    name: oidcName,
    groupsClaim: oidcGroupsClaim,
    roles: oidcRoles,
    orgId: oidcOrg === '' ? null : oidcOrg,
  }
}

/** Returns every setting, for display to the operator. Secrets are masked. `ofProviders`: as in `readConfig`. */
export function describeConfig(
  flags: Partial<Record<SettingName, string>>,
  env: NodeJS.ProcessEnv,
  ofProviders: readonly OperatorSetting[],
) {
  const all: [string, OperatorSetting | Setting<unknown>][] = [
    ...Object.entries(SETTINGS),
    ...ofProviders.map((one): [string, OperatorSetting] => [one.name, one]),
  ]
  return all.map(([key, entry]) => {
    const { name, default: fallback, meaning } = entry
    const raw = rawSetting(entry, (flags as Flags)[key], env)
    const isSecret = 'secret' in entry && raw !== ''
    return { name: PREFIX + name, value: isSecret ? '(secret)' : raw, default: fallback, meaning }
  })
}

/** Returns the retention period of events in milliseconds. */
export const retentionMs = ({ retentionDays }: Pick<Config, 'retentionDays'>): number => retentionDays * DAY_MS
