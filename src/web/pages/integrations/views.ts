/** The pages of this folder are bundled as one chunk. */
export { ConnectPage } from './connect-page.tsx'
export { IntegrationPage } from './integration-page.tsx'
export { IntegrationsPage } from './integrations-page.tsx'
