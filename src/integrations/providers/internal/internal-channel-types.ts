/** Channels of the internal organization, which alerts of users can't name. */
export type InternalChannelType = 'operator_mail' | 'operator_webhook' | 'security_mail' | 'canary'
