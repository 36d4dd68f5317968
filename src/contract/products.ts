/** Names of the channel types that alerts can use, by their value in the API. */
export const CHANNEL_TITLES = {
  email: 'E-mail',
  team_chat: 'Slack',
  office_chat: 'Microsoft Teams',
  webhook: 'Webhook',
  issue_tracker: 'Jira',
} as const

export type ChannelType = keyof typeof CHANNEL_TITLES

/** Names of the products that an organization can connect, by their value in the API. */
export const PROVIDER_TITLES = {
  tag_manager: 'Google Tag Manager',
  team_chat: CHANNEL_TITLES.team_chat,
  office_chat: CHANNEL_TITLES.office_chat,
  issue_tracker: CHANNEL_TITLES.issue_tracker,
  webhook: CHANNEL_TITLES.webhook,
  email_digest: 'E-mail digest',
} as const

export type ProviderType = keyof typeof PROVIDER_TITLES

export const CHANNEL_TYPES = Object.keys(CHANNEL_TITLES) as ChannelType[]
export const PROVIDER_TYPES = Object.keys(PROVIDER_TITLES) as ProviderType[]
