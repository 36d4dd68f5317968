/** The pages of this folder are bundled as one chunk. */
export { AlertsPage } from './alerts-page.tsx'
export { AlertPage } from './editor/edit-alert-page.tsx'
export { NewAlertPage } from './editor/new-alert-page.tsx'
