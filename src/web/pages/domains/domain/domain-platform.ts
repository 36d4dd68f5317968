import type { Domain } from '#client/types.gen'

/** True for an app, which sends events from its own code and samples by device. */
export const isApp = ({ system }: Pick<Domain, 'system'>): boolean => system === 'mobile_a' || system === 'mobile_b'

/** True for a website, which sends events with the browser script. */
export const isWeb = (domain: Pick<Domain, 'system'>): boolean => domain.system !== 'server' && !isApp(domain)
