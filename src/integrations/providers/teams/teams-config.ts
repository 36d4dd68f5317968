import type { OperatorSetting } from '../../../config.ts'
import { AppError, atField } from '../../../core/error.ts'
import { Closed, Nullable, parser, Text, Type } from '../../../core/schema.ts'
import type { AddressGuard } from '../../../transport/address-guard.ts'

/** Settings with either the URL of a workflow or a bot. */
export interface TeamsSettings {
  webhookUrl?: string
  appId?: string
  appPassword?: string
  tenantId?: string
}

/** A bot: an app registration with a client secret. */
export interface Bot {
  /** App id, in lower case if it is a GUID, as it is in tokens. */
  appId: string
  appPassword: string
  /** Null for a multi-tenant bot. */
  tenantId: string | null
}

const A_GUID = '00001111-aaaa-2222-bbbb-3333cccc4444'
const Name = (maxLength: number, title: string, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: String.raw`^[\w-][\w.-]*$`, title, description, examples: [A_GUID] })

const WORKFLOW = {
  title: 'Workflow URL',
  description: 'URL of a Teams workflow that posts webhook requests; use this or a bot',
}

/** Target of alerts that use a workflow URL instead of an integration. */
export const WORKFLOW_TARGET = Text(1, 2000, { ...WORKFLOW, description: 'URL of a Teams workflow' })

/** Schema of a configuration. A secret that is null is treated as absent. */
export const TeamsConfigSchema = Closed(
  {
    webhookUrl: Type.Optional(Nullable(Text(1, 2000), WORKFLOW)),
    appId: Type.Optional(Name(100, 'Application id', 'Application (client) id of the bot; use this or a workflow')),
    appPassword: Type.Optional(
      Nullable(Text(1, 500), { title: 'Client secret', description: 'Client secret of the bot' }),
    ),
    tenantId: Type.Optional(
      Nullable(Name(255, 'Tenant id', 'Directory (tenant) id'), {
        title: 'Tenant id',
        description: 'Directory (tenant) id of a single-tenant bot',
      }),
    ),
  },
  { $id: 'OfficeChatConfig' },
)

const parse = parser(TeamsConfigSchema)
const GUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const normal = (id: string) => (GUID.test(id) ? id.toLowerCase() : id)

/**
 * Validates and completes a configuration. Fails with `invalid`, naming the field.
 * @param given Fields present in the request. The stored secret of the other method is discarded.
 */
export function prepareTeams(input: object, guard: AddressGuard, given = input): TeamsSettings {
  const dropped = [
    ...('webhookUrl' in given && !('appPassword' in given) ? ['appPassword'] : []),
    ...('appId' in given && !('webhookUrl' in given) ? ['webhookUrl'] : []),
  ]
  const meant = Object.fromEntries(Object.entries(input).filter(([name]) => !dropped.includes(name)))
  const { webhookUrl, appId, appPassword, tenantId } = parse(meant, 'config')
  if (typeof webhookUrl === 'string') {
    if (appId !== undefined || typeof appPassword === 'string') {
      throw new AppError('invalid', "config.webhookUrl: can't be combined with appId or appPassword")
    }
    atField('config.webhookUrl', () => checkWorkflowUrl(webhookUrl, guard))
    return { webhookUrl }
  }
  if (appId === undefined)
    throw new AppError('invalid', 'config.webhookUrl: is required unless appId and appPassword are set')
  if (typeof appPassword !== 'string') throw new AppError('invalid', 'config.appPassword: is missing')
  return { appId: normal(appId), appPassword, ...(tenantId ? { tenantId: normal(tenantId) } : {}) }
}

/**
 * Rejects URLs that would be sent with a different spelling, because the signature in a workflow URL covers its exact
 * characters.
 */
export function checkWorkflowUrl(text: string, guard: AddressGuard): void {
  guard.checkUrl(text)
  if (text.includes('#')) throw new AppError('invalid', 'must not have a fragment')
}

/** The configured bot. Null if a workflow is configured. */
export function botOf({ appId, appPassword, tenantId }: TeamsSettings): Bot | null {
  return appId === undefined || appPassword === undefined ? null : { appId, appPassword, tenantId: tenantId ?? null }
}

function addressFault(text: string): string | null {
  const url = URL.parse(text)
  const isPlain = url !== null && url.username === '' && url.password === '' && url.hash === ''
  return isPlain && /^https?:$/.test(url.protocol)
    ? null
    : 'must be an http or https URL without credentials or a fragment'
}

/** Settings for URLs that differ between Microsoft's clouds. */
export const OPERATOR_SETTINGS: readonly OperatorSetting[] = [
  {
    name: 'OFFICE_CHAT_LOGIN_URL',
    default: 'https://login.microsoftonline.com',
    meaning: 'Login URL for obtaining access tokens for Teams bots; change it for sovereign clouds',
    fault: addressFault,
  },
  {
    name: 'OFFICE_CHAT_OPENID_URL',
    default: 'https://login.botframework.com/v1/.well-known/openidconfiguration',
    meaning: 'URL of the OpenID configuration that lists the keys with which Teams signs its calls',
    fault: addressFault,
  },
  {
    name: 'OFFICE_CHAT_ISSUER',
    default: 'https://api.botframework.com',
    meaning: "Issuer of the tokens in calls from Teams, and audience of the bot's own tokens",
    fault: addressFault,
  },
]

/** Value of a server-wide setting, exactly as configured. */
export function operatorUrl(operator: Readonly<Record<string, string>>, name: string): string {
  return operator[name] ?? OPERATOR_SETTINGS.find((one) => one.name === name)?.default ?? ''
}

/** Value of a server-wide setting without trailing slashes. */
export const operatorBase = (operator: Readonly<Record<string, string>>, name: string): string =>
  operatorUrl(operator, name).replace(/\/+$/, '')
