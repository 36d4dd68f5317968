import { createPrivateKey } from 'node:crypto'
import { AppError } from '../../../core/error.ts'
import { Closed, parser, Text, Type } from '../../../core/schema.ts'
import type { OperatorSetting } from '../provider.ts'
import type { Quota } from '../provider-context.ts'

/** What is used of a service account's key file. */
export interface ServiceAccount {
  client_email: string
  /** PEM. */
  private_key: string
  private_key_id?: string
}

/** How calls are signed in: by the key of a service account, or in the name of somebody who consented once. */
export interface Settings {
  /** Absent: the three others are there. */
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
      description: 'The key file of a service account, as an object; or the three fields below',
    }),
  ),
  clientId: Type.Optional(Text(1, 500, { title: 'Client id', description: 'Of an OAuth client' })),
  clientSecret: Type.Optional(Text(1, 500, { title: 'Client secret', description: 'Of the same client' })),
  refreshToken: Type.Optional(
    Text(1, 2000, { title: 'Refresh token', description: 'Of somebody who let the client in' }),
  ),
})

/** Further fields of a key file are left aside, `token_uri` among them: where tokens come from is the operator's to say. */
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

/** Fails with `invalid`, naming the field. Of a kept way to sign in and one that the request names, the latter is meant. */
export function prepareTagManager(config: object, given: object): Settings {
  const all = parseConfig(config, 'config')
  const namesAccount = 'serviceAccount' in given
  const namesClient = OAUTH_FIELDS.some((name) => name in given)
  if (namesAccount && namesClient) {
    throw new AppError(
      'invalid',
      'config.serviceAccount: stands alone, without clientId, clientSecret and refreshToken',
    )
  }
  if (namesAccount || (!namesClient && all.serviceAccount)) return { serviceAccount: accountOf(all.serviceAccount) }
  if (!namesClient && !all.refreshToken) {
    throw new AppError(
      'invalid',
      'config.serviceAccount: is missing, and so are clientId, clientSecret and refreshToken',
    )
  }
  const { serviceAccount: _, ...client } = all
  return parseOAuth(client, 'config')
}

function accountOf(file: unknown): ServiceAccount {
  const field = 'config.serviceAccount'
  const { client_email, private_key, private_key_id } = parseKeyFile(file, field)
  const bits = rsaBits(private_key)
  if (bits === null) throw new AppError('invalid', `${field}.private_key: is no RSA key in PEM`)
  if (bits > MOST_BITS) throw new AppError('invalid', `${field}.private_key: must have at most ${MOST_BITS} bits`)
  return { client_email, private_key, ...(private_key_id === undefined ? {} : { private_key_id }) }
}

/** Google's have 2048. To sign with one of 16,384 would hold up the whole program for more than a second. */
const MOST_BITS = 4096

/** Null when it is none. */
function rsaBits(pem: string): number | null {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem)
    return asymmetricKeyType === 'rsa' ? (asymmetricKeyDetails?.modulusLength ?? null) : null
  } catch {
    // The error may quote what could not be read.
    return null
  }
}

const URL_FAULT = 'must be an http or https address'

const urlFault = (value: string) => {
  const url = URL.parse(value)
  return url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' ? null : URL_FAULT
}

const MOST_CALLS = 60_000

export const OPERATOR: readonly OperatorSetting[] = [
  {
    name: 'TAG_MANAGER_URL',
    default: 'https://tagmanager.googleapis.com/tagmanager/v2',
    meaning: 'Where the API of Google Tag Manager is',
    fault: urlFault,
  },
  {
    name: 'TAG_MANAGER_TOKEN_URL',
    default: 'https://oauth2.googleapis.com/token',
    meaning: 'Where access tokens for it come from; also the audience that service accounts sign for',
    fault: urlFault,
  },
  {
    name: 'TAG_MANAGER_CALLS_PER_MINUTE',
    default: '15',
    meaning: 'How often it is called at most, by all organizations together, kept over every 100 s',
    fault: (value) =>
      /^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= MOST_CALLS
        ? null
        : `must be a whole number from 1 to ${MOST_CALLS}`,
  },
]

type Operator = Readonly<Record<string, string>>

export const apiUrl = (operator: Operator): string => (operator.TAG_MANAGER_URL ?? '').replace(/\/+$/, '')

export const tokenUrl = (operator: Operator): string => operator.TAG_MANAGER_TOKEN_URL ?? ''

const WINDOW_MS = 100_000

/** Google counts over 100 s, so a minute's share may go at once. */
export function quotaOf(operator: Operator): Quota {
  const perMinute = Number(operator.TAG_MANAGER_CALLS_PER_MINUTE)
  return { calls: Math.max(1, Math.floor((perMinute * WINDOW_MS) / 60_000)), windowMs: WINDOW_MS }
}
