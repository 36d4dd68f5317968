/** The pages of this folder are bundled as one chunk. */
export { ResetPage } from './reset-page.tsx'
export { InvitePage, SetUpPage } from './set-up-page.tsx'
