/** The pages of this folder are bundled as one chunk. */
export { AddDomainPage } from './add-domain-page.tsx'
export { DomainSettingsPage } from './domain/domain-settings-page.tsx'
export { DomainSetupPage } from './domain/domain-setup-page.tsx'
export { DomainHostnamesPage } from './domain/hostnames-page.tsx'
export { DomainLivePage } from './domain/live-page.tsx'
export { DomainSamplingPage } from './domain/sampling-page.tsx'
export { DomainVendorsPage } from './domain/vendors-page.tsx'
export { DomainsPage } from './domains-page.tsx'
