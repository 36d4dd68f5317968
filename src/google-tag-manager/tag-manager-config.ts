import { createPrivateKey } from 'node:crypto'
import type { OperatorSetting } from '../config.ts'
import { AppError } from '../core/error.ts'
import { Closed, parser, Text, Type } from '../core/schema.ts'
import type { Quota } from '../integrations/providers/provider-context.ts'

/** The fields that are used from a service account's key file. */
export interface ServiceAccount {
  client_email: string
  /** Private key in PEM format. */
  private_key: string
  private_key_id?: string
}

/** Credentials: the key of a service account, or the refresh token of a user who gave consent. */
export interface Settings {
  /** If absent, the three other fields are present. */
  serviceAccount?: ServiceAccount
  clientId?: string
  clientSecret?: string
  refreshToken?: string
}

export const SECRETS = ['serviceAccount', 'clientSecret', 'refreshToken'] as const satisfies (keyof Settings)[]

const text = (maxLength: number) => Text(1, maxLength)

export const ConfigSchema = Closed({
  serviceAccount: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      title: 'Service account',
      description: 'Contents of the key file of a service account; alternative to the three OAuth fields',
    }),
  ),
  clientId: Type.Optional(Text(1, 500, { title: 'Client id', description: 'Id of an OAuth client' })),
  clientSecret: Type.Optional(Text(1, 500, { title: 'Client secret', description: 'Secret of the OAuth client' })),
  refreshToken: Type.Optional(
    Text(1, 2000, { title: 'Refresh token', description: 'Refresh token of a user who authorized the client' }),
  ),
})

/**
 * Other fields of a key file are ignored, including `token_uri`, because only the operator configures the token URL.
 */
const KeyFileSchema = Type.Object({
  client_email: text(500),
  private_key: text(20_000),
  private_key_id: Type.Optional(text(200)),
})

const OAuthSchema = Closed({ clientId: text(500), clientSecret: text(500), refreshToken: text(2000) })

const parseConfig = parser(ConfigSchema)
const parseKeyFile = parser(KeyFileSchema)
const parseOAuth = parser(OAuthSchema)

const OAUTH_FIELDS = ['clientId', 'clientSecret', 'refreshToken'] as const

/**
 * Validates and completes a configuration. Credentials in the request replace stored credentials of the other kind.
 * Fails with `invalid`, naming the field.
 */
export function prepareTagManager(config: object, given: object): Settings {
  const all = parseConfig(config, 'config')
  const namesAccount = 'serviceAccount' in given
  const namesClient = OAUTH_FIELDS.some((name) => name in given)
  if (namesAccount && namesClient) {
    throw new AppError(
      'invalid',
      "config.serviceAccount: can't be combined with clientId, clientSecret or refreshToken",
    )
  }
  if (namesAccount || (!namesClient && all.serviceAccount)) return { serviceAccount: accountOf(all.serviceAccount) }
  if (!namesClient && !all.refreshToken) {
    throw new AppError(
      'invalid',
      'config.serviceAccount: is required unless clientId, clientSecret and refreshToken are set',
    )
  }
  const { serviceAccount: _, ...client } = all
  return parseOAuth(client, 'config')
}

function accountOf(file: unknown): ServiceAccount {
  const field = 'config.serviceAccount'
  const { client_email, private_key, private_key_id } = parseKeyFile(file, field)
  const bits = rsaBits(private_key)
  if (bits === null) throw new AppError('invalid', `${field}.private_key: is not an RSA key in PEM format`)
  if (bits > MAX_KEY_BITS) throw new AppError('invalid', `${field}.private_key: must have at most ${MAX_KEY_BITS} bits`)
  return { client_email, private_key, ...(private_key_id === undefined ? {} : { private_key_id }) }
}

/**
 * Maximum key size. Google's keys have 2,048 bits. Signing with 16,384 bits would block the event loop for more than a
 * second.
 */
const MAX_KEY_BITS = 4096

/** Size of an RSA key in bits. Null if the PEM is not an RSA key. */
function rsaBits(pem: string): number | null {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem)
    return asymmetricKeyType === 'rsa' ? (asymmetricKeyDetails?.modulusLength ?? null) : null
  } catch {
    // Omits the error because it may quote the key.
    return null
  }
}

const URL_FAULT = 'must be an http or https URL without a query or fragment'

const urlFault = (value: string) => {
  const url = URL.parse(value)
  return url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' ? null : URL_FAULT
}

const MAX_CALLS_PER_MINUTE = 60_000

export const OPERATOR: readonly OperatorSetting[] = [
  {
    name: 'TAG_MANAGER_URL',
    default: 'https://tagmanager.googleapis.com/tagmanager/v2',
    meaning: 'Base URL of the Google Tag Manager API',
    fault: urlFault,
  },
  {
    name: 'TAG_MANAGER_TOKEN_URL',
    default: 'https://oauth2.googleapis.com/token',
    meaning: 'OAuth token URL for the Google Tag Manager API, also the audience of service account assertions',
    fault: urlFault,
  },
  {
    name: 'TAG_MANAGER_CALLS_PER_MINUTE',
    default: '15',
    meaning: 'Maximum number of Google Tag Manager calls per minute across all organizations, averaged over any 100 s',
    fault: (value) =>
      /^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= MAX_CALLS_PER_MINUTE
        ? null
        : `must be a whole number from 1 to ${MAX_CALLS_PER_MINUTE}`,
  },
]

type Operator = Readonly<Record<string, string>>

export const apiUrl = (operator: Operator): string => (operator.TAG_MANAGER_URL ?? '').replace(/\/+$/, '')

export const tokenUrl = (operator: Operator): string => operator.TAG_MANAGER_TOKEN_URL ?? ''

const WINDOW_MS = 100_000

/** Quota for calls. Google counts calls over 100 s, so short bursts are allowed. */
export function quotaOf(operator: Operator): Quota {
  const perMinute = Number(operator.TAG_MANAGER_CALLS_PER_MINUTE)
  return { calls: Math.max(1, Math.floor((perMinute * WINDOW_MS) / 60_000)), windowMs: WINDOW_MS }
}
