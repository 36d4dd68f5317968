/** The pages in this folder are bundled as one chunk. */
export { BeforeConsentPage } from './before-consent-page.tsx'
export { CompliancePage } from './compliance-page.tsx'
