/** The pages of this folder are bundled as one chunk. */
export { ResetPage } from './reset.tsx'
export { InvitePage, SetUpPage } from './set-up.tsx'
