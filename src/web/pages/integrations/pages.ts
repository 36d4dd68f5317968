/** The pages of this folder are one file of script. */
export { ConnectPage } from './connect-page.tsx'
export { IntegrationPage } from './integration-page.tsx'
export { IntegrationsPage } from './integrations-page.tsx'
