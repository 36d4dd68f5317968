import { AppError, atField } from '../../../core/error.ts'
import { Closed, OneOf, parser, Text, Type } from '../../../core/schema.ts'
import type { AddressGuard } from '../../../transport/address-guard.ts'
import type { Destination, WebhookFormat } from './format.ts'
import { FORMATS } from './formats/index.ts'
import { isSigningSecret, newSecret, SECRET_FORMAT } from './standard-webhooks.ts'

/** Signed JSON following Standard Webhooks, the only format that is not in `FORMATS`. */
export const STANDARD = 'standard'
const STANDARD_TITLE = 'Standard Webhooks'

/** The secret is always present in the format `standard`. */
export interface WebhookSettings {
  url: string
  /** One of `FORMATS`. Absent for `standard`. */
  format?: string
  secret?: string
}

export const WebhookConfigSchema = Closed(
  {
    url: Text(1, 2000, {
      title: 'URL',
      description: 'https URL that messages are posted to',
      examples: ['https://hooks.example.com/tags'],
    }),
    format: Type.Optional(
      OneOf([STANDARD, ...FORMATS.map(({ name }) => name)], {
        default: STANDARD,
        title: 'Format',
        description: 'Signed JSON following Standard Webhooks, or the format of the product that receives the messages',
        'x-titles': {
          [STANDARD]: STANDARD_TITLE,
          ...Object.fromEntries(FORMATS.map(({ name, title }) => [name, title])),
        },
      }),
    ),
    secret: Type.Optional(
      Type.String({
        maxLength: 200,
        title: 'Secret',
        description: `For ${STANDARD_TITLE}: the signing secret, ${SECRET_FORMAT.replace('whsec_', '`whsec_`')}; generated if omitted. ${secretsOfFormats()}. Not used in other formats.`,
      }),
    ),
  },
  { $id: 'WebhookConfig' },
)

/** Describes the secrets of all formats: `For PagerDuty: the integration key. …`. */
function secretsOfFormats(): string {
  return FORMATS.flatMap(({ title, secret }) =>
    secret.use === 'none' ? [] : [`For ${title}: the ${secret.name}${secret.use === 'optional' ? ', if any' : ''}`],
  ).join('. ')
}

const parse = parser(WebhookConfigSchema)

/** Finds a format. Null for `standard`, which integrations have unless they name another format. */
export function formatOf({ format = STANDARD }: Readonly<Record<string, unknown>>): WebhookFormat | null {
  return FORMATS.find(({ name }) => name === format) ?? null
}

/**
 * Validates a configuration and generates a missing signing secret. Drops a secret that the format does not use. Fails
 * with `invalid`, naming the field.
 */
export function prepareWebhook(input: object, guard: AddressGuard): WebhookSettings {
  const { url, secret, format: name } = parse(input, 'config')
  atField('config.url', () => guard.checkUrl(url))
  const format = formatOf({ format: name })
  if (!format) return { url, secret: signingSecret(secret) }
  const checked = secretFor(format, secret)
  atField('config.url', () => format.checkUrl(new URL(url)))
  return { url, format: format.name, ...(checked === null ? {} : { secret: checked }) }
}

function signingSecret(secret = newSecret()): string {
  if (isSigningSecret(secret)) return secret
  throw new AppError('invalid', `config.secret: must be ${SECRET_FORMAT}`)
}

/** Returns the secret that the format uses. Null if it uses none or an optional one was omitted. */
function secretFor({ title, secret: rule }: WebhookFormat, secret: string | undefined): string | null {
  if (rule.use === 'none' || (rule.use === 'optional' && secret === undefined)) return null
  if (secret !== undefined && rule.pattern.test(secret)) return secret
  const fault = secret === undefined ? 'is required; enter' : 'must be'
  throw new AppError('invalid', `config.secret: ${fault} the ${rule.name} of ${title}`)
}

export const destinationOf = ({ url, secret = '' }: WebhookSettings): Destination => ({ url, secret })
