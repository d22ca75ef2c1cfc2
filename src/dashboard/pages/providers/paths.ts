export const providersPath = "/v3/manage/providers";
