// The bundler imports style sheets as they are.
declare module '*.css';
