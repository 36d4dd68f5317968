import type { OperatorSetting } from './config.ts'
import { emailDigest } from './digest/email-digest.ts'
import { googleTagManager } from './google-tag-manager/google-tag-manager.ts'
import type { Connector } from './integrations/providers/connector.ts'
import { CHANNEL_CONNECTORS } from './integrations/providers/index.ts'

/** Everything that an organization can connect. */
export const CONNECTORS: readonly Connector[] = [...CHANNEL_CONNECTORS, emailDigest, googleTagManager]

/** The server-wide settings of all connectors. */
export const PROVIDER_SETTINGS: readonly OperatorSetting[] = CONNECTORS.flatMap(({ operator }) => operator)
