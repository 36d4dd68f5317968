/** The pages of this folder are bundled as one chunk. */
export { ResetPage } from './password-reset-page.tsx'
export { InvitePage, SetUpPage } from './setup-and-invite-pages.tsx'
