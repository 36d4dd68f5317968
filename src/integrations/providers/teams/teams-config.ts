import { AppError, atField } from '../../../core/error.ts'
import { Closed, Nullable, parser, Text, Type } from '../../../core/schema.ts'
import type { AddressGuard } from '../../transport/address-guard.ts'
import type { OperatorSetting } from '../provider.ts'

/** Either the address of a workflow, or a bot. */
export interface TeamsSettings {
  webhookUrl?: string
  appId?: string
  appPassword?: string
  tenantId?: string
}

/** A bot: an app registration with a client secret. */
export interface Bot {
  /** In lower case where it is a GUID, as tokens name it. */
  appId: string
  appPassword: string
  /** Null: a bot of several tenants. */
  tenantId: string | null
}

const A_GUID = '00001111-aaaa-2222-bbbb-3333cccc4444'
const Name = (maxLength: number, title: string, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: String.raw`^[\w-][\w.-]*$`, title, description, examples: [A_GUID] })

const WORKFLOW = { title: 'Address of a workflow', description: 'Address of a Teams workflow; or a bot, below' }

/** In place of an integration. */
export const WORKFLOW_TARGET = Text(1, 2000, { ...WORKFLOW, description: 'Address of a Teams workflow' })

/** Secrets may be null, which is the same as leaving them out where nothing is kept. */
export const TeamsConfigSchema = Closed(
  {
    webhookUrl: Type.Optional(Nullable(Text(1, 2000), WORKFLOW)),
    appId: Type.Optional(Name(100, 'Application id', 'Application (client) id of the bot')),
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
 * Fails with `invalid`, naming the field.
 * @param given what the request names: the secret of the other way, which was kept, is dropped
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
      throw new AppError('invalid', 'config.webhookUrl: give either it, or appId and appPassword')
    }
    atField('config.webhookUrl', () => checkWorkflowUrl(webhookUrl, guard))
    return { webhookUrl }
  }
  if (appId === undefined) throw new AppError('invalid', 'config.webhookUrl: is missing; or give appId and appPassword')
  if (typeof appPassword !== 'string') throw new AppError('invalid', 'config.appPassword: is missing')
  return { appId: normal(appId), appPassword, ...(tenantId ? { tenantId: normal(tenantId) } : {}) }
}

/** The signature in it holds for these letters only, so what would be sent in another spelling is refused. */
export function checkWorkflowUrl(text: string, guard: AddressGuard): void {
  guard.checkUrl(text)
  if (text.includes('#')) throw new AppError('invalid', 'must not have a fragment')
}

/** Null: the settings are those of a workflow. */
export function botOf({ appId, appPassword, tenantId }: TeamsSettings): Bot | null {
  return appId === undefined || appPassword === undefined ? null : { appId, appPassword, tenantId: tenantId ?? null }
}

function addressFault(text: string): string | null {
  const url = URL.parse(text)
  const isPlain = url !== null && url.username === '' && url.password === '' && url.hash === ''
  return isPlain && /^https?:$/.test(url.protocol) ? null : 'must be an https URL'
}

/** Where Microsoft's clouds differ. */
export const OPERATOR_SETTINGS: readonly OperatorSetting[] = [
  {
    name: 'OFFICE_CHAT_LOGIN_URL',
    default: 'https://login.microsoftonline.com',
    meaning: 'Where bots of Teams get their tokens; sovereign clouds have another address',
    fault: addressFault,
  },
  {
    name: 'OFFICE_CHAT_OPENID_URL',
    default: 'https://login.botframework.com/v1/.well-known/openidconfiguration',
    meaning: 'Which keys sign the calls of Teams: its OpenID configuration',
    fault: addressFault,
  },
  {
    name: 'OFFICE_CHAT_ISSUER',
    default: 'https://api.botframework.com',
    meaning: 'Who issues the tokens of calls of Teams; ours are for it too',
    fault: addressFault,
  },
]

/** What who runs the server has set, letter by letter. */
export function operatorUrl(operator: Readonly<Record<string, string>>, name: string): string {
  return operator[name] ?? OPERATOR_SETTINGS.find((one) => one.name === name)?.default ?? ''
}

/** The same, so that a path can follow. */
export const operatorBase = (operator: Readonly<Record<string, string>>, name: string): string =>
  operatorUrl(operator, name).replace(/\/+$/, '')
